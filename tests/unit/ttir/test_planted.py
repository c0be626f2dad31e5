"""Sixty planted bugs of twelve kinds: all are found, and none because something is not supported."""

from pathlib import Path

import pytest

pytest.importorskip("triton", reason="kernels are lowered by Triton")

from triton_bugs.bugs import BUGS, Bug
from triton_bugs.checking import problems
from triton_bugs.specimens import SPECIMENS


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: f"{bug.kernel}: {bug.kind}")
def test_a_planted_bug_is_found(bug: Bug, tmp_path: Path) -> None:
    found = problems(bug.text(), bug.kernel, SPECIMENS[bug.kernel].calls(), tmp_path)
    assert found
    assert not any(problem.startswith("undecided") for problem in found)
