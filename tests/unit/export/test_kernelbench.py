"""A kernel exported to KernelBench is a Python candidate that holds again, with the problem's own parameters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import warpwright as ww
from warpwright.export.forms import form_named, forms

PROBLEM = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(size))

    def forward(self, x):
        return x * self.scale


def get_inputs():
    return [torch.rand(6, 40)]


def get_init_inputs():
    return [40]
"""
KERNEL = """#include <torch/extension.h>
__global__ void scaled(const float* x, const float* scale, float* y, int size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * scale[i % size];
}
torch::Tensor forward(torch::Tensor x, torch::Tensor scale) {
  auto y = torch::empty_like(x);
  int n = x.numel(), size = scale.numel();
  scaled<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), scale.data_ptr<float>(), y.data_ptr<float>(), size, n);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("problem") / "scaled.py"
    file.write_text(PROBLEM)
    return file


def test_an_exported_kernel_holds_as_a_candidate(problem: Path, tmp_path: Path) -> None:
    written, evidence = ww.export(KERNEL, problem, "kernelbench", tmp_path)
    assert json.loads(evidence.read_text())["verdict"] == "holds"
    assert ww.check(written, problem).verdict is ww.Verdict.HOLDS


def test_a_refuted_kernel_is_not_exported(problem: Path, tmp_path: Path) -> None:
    with pytest.raises(ww.UsageError, match="refuted"):
        ww.export(KERNEL.replace("* scale", "+ scale"), problem, "kernelbench", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_kernelbench_cannot_hold_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (function,) = (item for item in ww.tasks("paper") if item.key == "paper/mnist_cross_entropy:forward")
    with pytest.raises(ww.UsageError, match="no forward pass of a KernelBench problem"):
        form_named("kernelbench").files(function, ww.Candidate(source=KERNEL), None)  # type: ignore[arg-type]


def test_an_unknown_form_is_refused_with_those_there_are() -> None:
    assert forms() == ["kernelbench"]
    with pytest.raises(ww.UsageError, match="one of kernelbench"):
        form_named("wheel")
