"""From proposal to GPU a candidate is compiled once: each rung and the bundle find what those before them made."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.judged import Job, JudgeOptions
from warpwright.core.task import Case, Output, Range, Reference, Role, Task, TensorArg
from warpwright.dispatch.predicting import predictions
from warpwright.dispatch.sealed_jobs import HIDDEN_CASES, sealed_jobs
from warpwright.emulate.program import build
from warpwright.sandbox import run as sandbox
from warpwright.seal import toolchain
from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture import program as capture
from warpwright.seal.device import nvcc as device
from warpwright.seal.sealing import seal
from warpwright.verify.ladder import climb

TASK = Task(
    name="double",
    arguments=(TensorArg(name="x", shape=("N",)),),
    outputs=(Output(name="y", shape=("N",)),),
    cases=(
        Case(name="small", role=Role.CHECK, dims={"N": 7}),
        Case(name="large", role=Role.TIME, dims={"N": 100_000}),
    ),
    ranges={"N": Range(low=1, high=10_000)},
    reference=Reference(source="def forward(x):\n    return 2 * x\n"),
)
SOURCE = """#include <torch/extension.h>
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  scale<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
COMPILERS = {"nvcc": ("cicc", "-cubin"), "host": ("-fpreprocessed",)}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The usual store of this test alone, with our precompiled headers in it."""
    usual, store = Store(root=default_root()), Store(root=tmp_path / "store")
    for ready in (capture.prebuilt(usual), build.prebuilt(usual), *device.prepare(usual)):
        store.make(ready.name, lambda folder, ready=ready: shutil.copytree(ready, folder, dirs_exist_ok=True))
    monkeypatch.setenv("WARPWRIGHT_CACHE", str(store.root))
    return store


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each compiler has run."""
    counts: Counter[str] = Counter()
    plain = sandbox.run

    def counting(command: Sequence[str], *given: Any, **named: Any) -> sandbox.Finished:
        words = " ".join(map(str, command))
        counts.update(name for name, marks in COMPILERS.items() if any(mark in words for mark in marks))
        counts.update(["capture"] if Path(command[0]).name == capture.PROGRAM else [])
        return plain(command, *given, **named)

    monkeypatch.setattr(sandbox, "run", counting)
    return counts


@pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")
def test_a_candidate_that_reaches_a_gpu_was_compiled_once(store: Store, counted: Counter[str]) -> None:
    candidate = Candidate(source=SOURCE)
    assert climb(TASK, candidate).held == {"source", "seal", "emulate"}
    assert (counted["nvcc"], counted["host"]) == (1, 2), "nvcc, then the host's compiler for capture and emulator"
    captures = counted["capture"]
    assert len(predictions(TASK, candidate)) == 1
    assert counted["capture"] == captures
    ((_, job),) = sealed_jobs(TASK, [("it", candidate)], JudgeOptions(), secret=3)
    assert isinstance(job, Job)
    assert job.sealed is not None
    assert len(job.sealed.plans) == len(TASK.cases) + HIDDEN_CASES
    assert (counted["nvcc"], counted["host"]) == (1, 2)


@pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")
def test_a_case_that_was_planned_before_is_not_captured_again(store: Store, counted: Counter[str]) -> None:
    candidate = Candidate(source=SOURCE)
    small, large = (seal(TASK, candidate, [case], store) for case in TASK.cases)
    assert isinstance(small, Sealed)
    assert isinstance(large, Sealed)
    before = counted["capture"]
    both = seal(TASK, candidate, None, store)
    assert isinstance(both, Sealed)
    assert both.plans == (*small.plans, *large.plans)
    assert both.cubin == small.cubin == large.cubin
    assert counted["capture"] == before + 1, "only the entries are listed"
    assert counted["nvcc"] == 1


def test_a_source_that_does_not_compile_is_refused_once(store: Store, counted: Counter[str]) -> None:
    broken = Candidate(source=SOURCE.replace("return y;", "return z;"))
    first = seal(TASK, broken, TASK.cases[:1], store)
    runs = counted.copy()
    assert seal(TASK, broken, TASK.cases, store) == first
    assert counted == runs
