"""Merges kernels by their scores on each shape."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright import languages
from warpwright.core.errors import UsageError
from warpwright.core.records.search import Score
from warpwright.core.task import Task
from warpwright.propose.prompting.known import Known


def specialised(task: Task, kernels: Sequence[Known]) -> str:
    """One source that runs, for each timed case, the kernel with the best score there; a UsageError says why not."""
    scores = [kernel.score for kernel in kernels if kernel.score]
    if len(scores) < len(kernels) or len({score.basis for score in scores}) != 1:
        raise UsageError("kernels can be merged by score only if all were measured or all were predicted")
    best = max(range(len(scores)), key=lambda number: scores[number].value)
    cases = [case.name for case in task.cases if all(case.name in score.by_case for score in scores)]
    winners = {case: _winner(case, scores, best) for case in cases}
    written_in = {kernel.candidate.language for kernel in kernels}
    if len(written_in) > 1:
        raise UsageError(f"kernels in several languages cannot be merged: {', '.join(sorted(written_in))}")
    language = languages.of(kernels[0].candidate)
    return language.merged(task, [kernel.candidate.source for kernel in kernels], winners, best)


def _winner(case: str, scores: Sequence[Score], best: int) -> int:
    """The best kernel of a case; a tie goes to the kernel that is best overall."""
    return max(range(len(scores)), key=lambda number: (scores[number].by_case[case], number == best))
