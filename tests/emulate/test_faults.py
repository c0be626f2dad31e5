"""Planted faults: a witness is found where there is one, and published checks are repeated as they are."""

from __future__ import annotations

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Task
from warpwright.faults.mutants import Mutant, mutants
from warpwright.faults.published import Repeated
from warpwright.faults.running import Runner
from warpwright.faults.witness import ASKED, Searcher
from warpwright.oracle.inputs.published import PUBLISHED
from warpwright.seal.cache import Store
from warpwright.tasks import load

# Whichever comes first on a machine compiles the runtime as well.
pytestmark = pytest.mark.timeout(600)

PROBLEM = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(40))

    def forward(self, x):
        return torch.relu(x) * self.gain

def get_inputs():
    return [torch.randn(6, 40)]

def get_init_inputs():
    return []
"""
KERNEL = """#include <torch/extension.h>
__global__ void scaled(const float* x, const float* gain, float* y, int n, int columns) {
  for (int i = threadIdx.x; i < n; i += 64) {
    const float value = x[i] > 0.0f ? x[i] : 0.0f;
    y[i] = value * gain[i % columns];
  }
}
torch::Tensor forward(torch::Tensor x, torch::Tensor gain) {
  auto y = torch::empty_like(x);
  const int n = x.numel();
  scaled<<<1, 64>>>(x.data_ptr<float>(), gain.data_ptr<float>(), y.data_ptr<float>(), n, gain.numel());
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
WITHOUT_GAIN = KERNEL.replace("value * gain[i % columns]", "value")


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    path = tmp_path_factory.mktemp("problem") / "relu_gain.py"
    path.write_text(PROBLEM)
    return load(str(path))[0]


@pytest.fixture(scope="module")
def runner(store: Store) -> Runner:
    return Runner(gpu="h200", store=store)


@pytest.fixture(scope="module")
def searcher(task: Task, runner: Runner) -> Searcher:
    return Searcher(task=task, original=Candidate(source=KERNEL), runner=runner)


def planted(kind: str, became: str) -> Mutant:
    return next(mutant for mutant in mutants(KERNEL) if mutant.kind == kind and became in mutant.became)


def test_a_loop_that_ends_early_has_a_witness(searcher: Searcher) -> None:
    witness = searcher.witness(planted("early end", "(n) - 1"))
    assert witness is not None
    assert witness.scope == ASKED
    assert "never written" in witness.how


def test_a_change_without_effect_has_none(searcher: Searcher) -> None:
    """The same test in other words."""
    same = Mutant(
        kind="early end", line=3, source=KERNEL.replace("i < n", "i <= n - 1"), was="i < n", became="i <= n - 1"
    )
    assert searcher.witness(same) is None


def test_published_checks_do_not_see_an_ignored_gain_of_ones(task: Task, runner: Runner, searcher: Searcher) -> None:
    fault = Candidate(source=WITHOUT_GAIN)
    verdicts = {check.name: Repeated(check=check, runner=runner).verdict(task, fault) for check in PUBLISHED}
    assert set(verdicts.values()) == {Verdict.HOLDS}
    mutant = Mutant(kind="ignored parameter", line=5, source=WITHOUT_GAIN, was="gain", became="")
    assert searcher.witness(mutant) is not None


def test_published_checks_see_a_wrong_result(task: Task, runner: Runner) -> None:
    wrong = Candidate(source=planted("early end", "(n) - 1").source)
    assert Repeated(check=PUBLISHED[0], runner=runner).verdict(task, wrong) is Verdict.REFUTED
