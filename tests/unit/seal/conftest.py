"""A small task, a kernel for it, and one store for all tests of a run: our headers are precompiled once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Direction, Output, Reference, Role, Task, TensorArg
from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture import program as capture
from warpwright.seal.device import nvcc as device
from warpwright.seal.refusal import Refusal
from warpwright.seal.sealing import seal

KERNEL = """#include <torch/extension.h>
template <typename T> __global__ void scale(const T* __restrict__ x, T* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
@BEFORE@
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  @BODY@
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); @BIND@ }
"""
LAUNCH = "scale<float><<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"

Sealer = Callable[..., Sealed | Refusal]


def _source(body: str = LAUNCH, before: str = "", bind: str = "") -> str:
    return KERNEL.replace("@BODY@", body).replace("@BEFORE@", before).replace("@BIND@", bind)


def _task(direction: Direction = Direction.FORWARD) -> Task:
    cases = (
        Case(name="small", role=Role.CHECK, dims={"N": 7}),
        Case(name="large", role=Role.TIME, dims={"N": 100_000}),
    )
    return Task(
        name="double",
        direction=direction,
        arguments=(TensorArg(name="x", shape=("N",)),),
        outputs=(Output(name="y", shape=("N",)),),
        cases=cases,
        reference=Reference(source="def forward(x):\n    return 2 * x\n"),
    )


@pytest.fixture
def source() -> Callable[..., str]:
    """The standard kernel with another body, something before `forward`, or more bindings."""
    return _source


@pytest.fixture
def task() -> Callable[..., Task]:
    """The task that the standard kernel solves, in any direction."""
    return _task


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store of this run's own, but for our precompiled headers: a machine makes those once."""
    store = Store(root=tmp_path_factory.mktemp("store"))
    usual = Store(root=default_root())
    for ready in (capture.prebuilt(usual), *device.prepare(usual)):
        store.make(ready.name, lambda folder, ready=ready: shutil.copytree(ready, folder, dirs_exist_ok=True))
    return store


@pytest.fixture
def sealing(store: Store) -> Sealer:
    """Seals a text, or the standard kernel with another body."""

    def run(text: str | None = None, *, of: Task | None = None, **parts: str) -> Sealed | Refusal:
        return seal(of or _task(), Candidate(source=_source(**parts) if text is None else text), store=store)

    return run


@pytest.fixture(scope="session")
def corpus() -> Path:
    return Path(__file__).parents[2] / "corpus"
