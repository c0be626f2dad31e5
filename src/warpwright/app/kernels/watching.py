"""Runs NVIDIA's profiler and sanitizers on a candidate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from warpwright.core.errors import Undecided
from warpwright.core.records.judged import Job, Judged
from warpwright.core.task import Role


def limited_by(job: Job, report: Path | None) -> str:
    """Names the bottleneck of a candidate in one sentence: by the profiler if permitted, else by the assembler."""
    from warpwright.judge.watching import profile
    from warpwright.report.bottleneck import by_assembler, by_profiler

    assert job.sealed is not None
    case = (job.task.cases_of(Role.TIME) or job.task.cases)[0].name
    try:
        return f"{case}: {by_profiler(profile(job, case, report))}."
    except Undecided as reason:
        return f"{case}: {by_assembler(job.sealed, case)}; {reason}."


def sanitized(job: Job, judged: Judged) -> Judged:
    """The judgement with the word of each of the sanitizer's tools on the smallest case."""
    from warpwright.judge.watching import SANITIZERS, sanitize

    case = min(job.task.cases_of(Role.CHECK), key=lambda case: sum(case.dims.values())).name
    found = tuple(sanitize(job, tool, case) for tool in SANITIZERS)
    return replace(judged, evidence=(*judged.evidence, *found))
