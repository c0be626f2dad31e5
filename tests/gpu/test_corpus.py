"""The corpus on a GPU: every kernel is sealed, replayed through the driver with the judge's buffers, and accepted."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.core.records.judged import JudgeOptions
from warpwright.core.task import Role
from warpwright.dispatch.bundle import make_job
from warpwright.seal.sealing import seal
from warpwright.tasks import load

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(600)]
KERNELS = sorted((Path(__file__).parents[1] / "corpus" / "seal").glob("*.cu"))
_HEADER = re.compile(r"// task: (?P<task>\S+)\s+dtypes: (?P<dtypes>[\w, ]+?)\s+style:")


def case_of(path):
    """The task a kernel is for, with the check cases of the types it supports."""
    source = path.read_text(encoding="utf-8")
    header = _HEADER.match(source)
    task = load(header["task"])[0]
    dtypes = header["dtypes"].split(", ")
    cases = tuple(case for case in task.cases_of(Role.CHECK) if case.dtype in dtypes)
    return replace(task, dtypes=tuple(dtypes), cases=cases), Candidate(source=source, flags=Flags(gpu="h200"))


@pytest.fixture(scope="module")
def judge():
    from warpwright.judge.judging import Judge

    judge = Judge()
    yield judge
    judge.close()


@pytest.mark.parametrize("name", [path.name for path in KERNELS])
def test_a_correct_kernel_holds(name, judge):
    task, candidate = case_of(KERNELS[0].parent / name)
    sealed = seal(task, candidate)
    assert isinstance(sealed, Sealed), sealed
    judged = judge.judge(make_job(name, task, sealed, asked=JudgeOptions(time=False)))
    assert not judged.faults, judged.faults
    assert judged.evidence[0].verdict is Verdict.HOLDS, judged.evidence[0].counterexample
