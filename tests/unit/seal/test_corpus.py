"""Kernels in the many styles people and models write them: each seals as it is, and its plan is nvcc's own.

The first line of each file names its task, the types it takes and the style it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.launch.plan import Launch, Library
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Case, Role, Task
from warpwright.seal import toolchain
from warpwright.seal.cache import Store
from warpwright.seal.capture import program as capture
from warpwright.seal.device import nvcc as device
from warpwright.seal.device.nvcc import DeviceCode
from warpwright.seal.hostlink import linking as hostlink
from warpwright.seal.job import BY_NVCC, SealJob
from warpwright.seal.sealing import seal
from warpwright.tasks.find import load

FILES = sorted((Path(__file__).parents[2] / "corpus" / "seal").glob("*.cu"))
# In the default tier. Together they have templates, variables, static kernels, clusters and library calls.
SAMPLE = ("rmsnorm_anonymous_bf16", "pool_constant_shape", "softmax_cluster_launch", "linear_training_pair")
# Half a minute each: with every header of CUB's device-wide operations, or of Thrust.
LONG = ("cross_entropy_device_reduce", "cumsum_thrust_functors")
# A third of all, of every kind of task, since neighbours in the list are of one kind.
SEALED = {path.stem for path in FILES[::3]}
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


def _in_corpus(left_out: Callable[[str], bool]) -> list[ParameterSet]:
    """Every file by its name, those that are left out of the default tier marked."""
    return [pytest.param(path, id=path.stem, marks=pytest.mark.corpus if left_out(path.stem) else ()) for path in FILES]


@pytest.mark.parametrize("path", _in_corpus(lambda name: name in LONG or name not in SEALED))
def test_it_seals_as_it_is(path: Path, store: Store) -> None:
    one = specimen(path)
    assert one.cases, "no case of its task has a type it takes"
    sealed = seal(one.task, Candidate(source=one.source), one.cases, store)
    assert isinstance(sealed, Sealed), sealed
    for plan in sealed.plans:
        assert any(isinstance(node, Launch | Library) for node in plan.nodes)


@pytest.mark.parametrize("path", _in_corpus(lambda name: name not in SAMPLE))
def test_its_plan_is_that_of_nvccs_own_host_code(
    path: Path, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = specimen(path)
    sealed = seal(one.task, Candidate(source=one.source), one.cases, store)
    assert isinstance(sealed, Sealed), sealed

    def by_nvcc(folder: Path, *_: object) -> capture.Program:
        return hostlink.build(folder, Flags(), sealed.kernels, store)

    monkeypatch.setattr(capture, "build", by_nvcc)
    monkeypatch.setattr(device, "compile_device", lambda *_: compiled(sealed))
    job = SealJob(
        task=one.task,
        candidate=Candidate(source=one.source),
        cases=one.cases,
        store=store,
        folder=tmp_path,
        seconds={BY_NVCC: 0.0},
    )
    assert job.sealed(sealed.id).plans == sealed.plans


def compiled(sealed: Sealed) -> DeviceCode:
    """The device code once more, which the oracle need not compile again."""
    assert sealed.cubin is not None
    variables = dict.fromkeys(sealed.variables.values(), 0)
    return DeviceCode(cubin=sealed.cubin, kernels=sealed.kernels, variables=variables, seconds=0.0)
