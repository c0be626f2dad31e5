"""The corpus on the CPU: every kernel is found right, in the types it takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Role
from warpwright.tasks import load
from warpwright.verify.emulate import EmulateRung
from warpwright.verify.ladder import climb

pytestmark = [pytest.mark.corpus, pytest.mark.timeout(900)]
FILES = sorted((Path(__file__).parents[1] / "corpus" / "seal").glob("*.cu"))
HEADING = re.compile(r"// task: (?P<task>\S+)\s+dtypes: (?P<dtypes>[\w, ]+?)\s+style:")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_correct_kernel_holds(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    heading = HEADING.match(source)
    assert heading is not None
    task, dtypes = load(heading["task"])[0], heading["dtypes"].split(", ")
    cases = tuple(case for case in task.cases_of(Role.CHECK) if case.dtype in dtypes)
    (found,) = climb(task, Candidate(source=source), cases, [EmulateRung()]).evidence
    assert found.verdict is Verdict.HOLDS, found.reason or found.counterexample
