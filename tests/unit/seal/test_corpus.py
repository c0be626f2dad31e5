"""Kernels in the many styles people and models write them: each seals as it is, and its plan is nvcc's own.

The first line of each file names its task, the types it takes and the style it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import pytest

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.gpus import gpu_named
from warpwright.core.plan import Launch, Library, Plan
from warpwright.core.sealed import Sealed
from warpwright.core.signature import arguments
from warpwright.core.task import Case, Direction, Role, Task
from warpwright.seal import capture, hostlink, toolchain
from warpwright.seal.binding import bind
from warpwright.seal.cache import Store
from warpwright.seal.device import DeviceCode
from warpwright.seal.observe import Call, Observer, codes
from warpwright.seal.plans import make_plan
from warpwright.seal.sandbox import Finished
from warpwright.seal.sealing import seal
from warpwright.seal.traced import Trace
from warpwright.tasks.find import load

FILES = sorted((Path(__file__).parents[2] / "corpus" / "seal").glob("*.cu"))
# Each takes several seconds of nvcc; together they have templates, variables, static kernels and library calls.
BY_NVCC = ("rmsnorm_anonymous_bf16", "pool_constant_shape", "layernorm_two_pass", "linear_mm_then_bias")
pytestmark = pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    source: str
    task: Task
    cases: Sequence[Case]


def specimen(path: Path) -> Specimen:
    source = path.read_bytes().decode()
    header = re.match(r"\ufeff?// task: (\S+)\s+dtypes: (.+?)\s+style: ", source)
    assert header, f"{path.name} does not say what it is"
    (task, *_) = load(header[1])
    dtypes = re.split(r",\s*", header[2])
    cases = [case for case in task.cases if case.dtype in dtypes]
    chosen = [case for case in cases if case.role is Role.CHECK][:3] + [c for c in cases if c.role is Role.TIME][:1]
    return Specimen(source=source, task=task, cases=chosen)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_seals_as_it_is(path: Path, store: Store) -> None:
    one = specimen(path)
    assert one.cases, "no case of its task has a type it takes"
    sealed = seal(one.task, Candidate(source=one.source), one.cases, store)
    assert isinstance(sealed, Sealed), sealed
    for plan in sealed.plans:
        assert any(isinstance(node, Launch | Library) for node in plan.nodes)


@pytest.mark.parametrize("path", [path for path in FILES if path.stem in BY_NVCC], ids=lambda path: path.stem)
def test_its_plan_is_that_of_nvccs_own_host_code(path: Path, store: Store, tmp_path: Path) -> None:
    one = specimen(path)
    sealed = seal(one.task, Candidate(source=one.source), one.cases, store)
    assert isinstance(sealed, Sealed), sealed
    assert by_nvcc(one, sealed, store, tmp_path) == sealed.plans


def by_nvcc(one: Specimen, sealed: Sealed, store: Store, folder: Path) -> tuple[Plan, ...]:
    (folder / "build").mkdir()
    (folder / "build" / "kernel.cu").write_text(one.source)
    program = hostlink.build(folder / "build", Flags(), sealed.kernels, store)

    def ask(lines: Sequence[bytes]) -> tuple[list[Trace], Finished]:
        return capture.run(program, lines, Path(mkdtemp(dir=folder)))

    entry = "backward" if one.task.direction is Direction.BACKWARD else "forward"
    calls = [Call(entry=entry, case=case.name, arguments=arguments(one.task, case)) for case in one.cases]
    seen = Observer(ask=ask, gpu=gpu_named("h200")).observe(calls)
    described = DeviceCode(cubin=b"", kernels=sealed.kernels, variables={}, seconds=0.0)
    binding = bind(program, codes(trace for traces in seen for trace in traces), described, folder)
    plans = (
        make_plan(call.entry, call.case, traces, binding.name_of) for call, traces in zip(calls, seen, strict=True)
    )
    return tuple(plans)
