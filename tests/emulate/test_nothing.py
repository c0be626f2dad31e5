"""Tensors without elements: who owes nothing need not do anything."""

from __future__ import annotations

from pathlib import Path

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.tasks import load
from warpwright.verify.emulate import EmulateRung
from warpwright.verify.ladder import climb

PROBLEM = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.rand(0, 5)]


def get_init_inputs():
    return []
"""
KERNEL = """\
#include <torch/extension.h>

__global__ void relu(const float* x, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = fmaxf(x[threadIdx.x], 0.0f);
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  if (x.numel() > 0) relu<<<1, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


def test_host_code_that_owes_no_element_may_do_nothing(tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text(PROBLEM, encoding="utf-8")
    (task,) = load(str(path))
    (evidence,) = climb(task, Candidate(source=KERNEL), ladder=[EmulateRung()]).evidence
    assert evidence.verdict is Verdict.HOLDS, evidence.counterexample or evidence.reason
