"""Kernels that win on different shapes, merged by what they scored on each."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.core.errors import UsageError
from warpwright.core.records.search import Score
from warpwright.core.task import Task
from warpwright.propose.merging.merge import merged
from warpwright.propose.prompting.known import Known


def specialised(task: Task, kernels: Sequence[Known]) -> str:
    """One source that runs, for each timed case, the kernel that scored best there. UsageError says why not."""
    scores = [kernel.score for kernel in kernels if kernel.score]
    if len(scores) < len(kernels) or len({score.basis for score in scores}) != 1:
        raise UsageError("only kernels that were all measured, or all predicted, can be merged by what they scored")
    best = max(range(len(scores)), key=lambda number: scores[number].value)
    cases = [case.name for case in task.cases if all(case.name in score.by_case for score in scores)]
    winners = {case: _winner(case, scores, best) for case in cases}
    return merged(task, [kernel.candidate.source for kernel in kernels], winners, best)


def _winner(case: str, scores: Sequence[Score], best: int) -> int:
    """Equals leave the case to the kernel that is best over all."""
    return max(range(len(scores)), key=lambda number: (scores[number].by_case[case], number == best))
