"""No correct kernel of the corpus is DIFFERENT, and most are EQUAL."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from formulas.changes import CORPUS

from warpwright.core.candidate import Candidate
from warpwright.prove.proof import Grade
from warpwright.prove.proving import prove
from warpwright.tasks import load

pytestmark = [pytest.mark.corpus, pytest.mark.timeout(900)]
HEADING = re.compile(r"\ufeff?// task: (\S+)\s+dtypes: (\w+)")


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.cu")), ids=lambda path: path.stem)
def test_a_correct_kernel_is_not_different(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    heading = HEADING.match(source)
    assert heading is not None
    task = load(heading[1])[0]
    found = prove(task, Candidate(source=source), [case for case in task.cases if case.dtype == heading[2]])
    assert found.grade is not Grade.DIFFERENT, found.sentence
