"""What NVIDIA's tools see of a candidate, for `warpwright bench --profile` and `--sanitize`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwright.core.errors import Undecided
from warpwright.core.task import Role

if TYPE_CHECKING:
    from pathlib import Path

    from warpwright.core.records.judged import Job, Judged


def watched(job: Job, report: Path | None, silent: bool) -> str:
    """One sentence: by the profiler where it may count, else by what the assembler said."""
    from warpwright.cli.screen import waiting
    from warpwright.judge.watching import profile
    from warpwright.report.bottleneck import by_assembler, by_profiler

    assert job.sealed is not None
    case = (job.task.cases_of(Role.TIME) or job.task.cases)[0].name
    try:
        with waiting("profiling", silent=silent):
            return f"{case}: {by_profiler(profile(job, case, report))}."
    except Undecided as reason:
        return f"{case}: {by_assembler(job.sealed, case)}; {reason}."


def sanitized(job: Job, judged: Judged, silent: bool) -> Judged:
    """With the word of each of the sanitizer's tools on the smallest case."""
    from warpwright.cli.screen import waiting
    from warpwright.judge.watching import SANITIZERS, sanitize

    case = min(job.task.cases_of(Role.CHECK), key=lambda case: sum(case.dims.values())).name
    with waiting("sanitizing", silent=silent):
        found = tuple(sanitize(job, tool, case) for tool in SANITIZERS)
    return replace(judged, evidence=(*judged.evidence, *found))
