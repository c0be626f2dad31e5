"""Kernels checked and timed on the GPU of this machine, in turns with torch's own answers."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warpwright.app.given import Inputs, KernelLike, Subject, TaskLike, candidate_of, path_of, subject_of
from warpwright.app.kernels.watching import limited_by, sanitized
from warpwright.app.progress import OnProgress, Reporter
from warpwright.core.errors import Undecided, UsageError
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Evidence, Fault, Verdict
from warpwright.core.records.judged import Job, Judged, JudgeOptions
from warpwright.core.task import Role
from warpwright.report.standings import Standing, standings, summary
from warpwright.report.verdicts import refusal_sentence
from warpwright.seal.refusal import Refusal

_GPU = threading.Lock()
"""Two timings at once would disturb each other."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Benched:
    """One kernel as the judge saw it, or why it never reached the judge."""

    label: str
    subject: Subject
    judged: Judged | None = None
    refusal: Refusal | None = None
    """Why the kernel could not be sealed."""
    limited_by: str | None = None
    """The kernel's bottleneck in one sentence, if requested."""

    @property
    def verdict(self) -> Verdict:
        """REFUTED by the judge or while sealing; UNDECIDED without evidence, or where a case was not timed."""
        if self.refusal:
            return self.refusal.verdict
        found = {item.verdict for item in self.evidence}
        if Verdict.REFUTED in found:
            return Verdict.REFUTED
        return Verdict.HOLDS if found == {Verdict.HOLDS} and not self.untimed_cases else Verdict.UNDECIDED

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return self.judged.evidence if self.judged else ()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Failures of ours; with any of them a missing number says nothing about the kernel."""
        return self.judged.faults if self.judged else ()

    @property
    def standings(self) -> tuple[Standing, ...]:
        """Times and speed-ups, one for each case and cache state that was timed."""
        return standings(self.subject.task, self.judged) if self.judged else ()

    @property
    def summary(self) -> dict[str, float | None]:
        return summary(self.standings)

    @property
    def untimed_cases(self) -> tuple[str, ...]:
        """Cases that were to be timed, and checked at their size, and were not: a verdict does not cover them."""
        measured = self.judged.measurements if self.judged else ()
        timed = {item.case for item in measured if self.judged and item.subject == self.judged.candidate}
        return tuple(case.name for case in self.subject.task.cases_of(Role.TIME) if case.name not in timed)

    @property
    def most_memory_ratio(self) -> float | None:
        """The largest memory of any case in units of the eager reference's; None where a case has none."""
        ratios = [item.memory_ratio for item in self.standings]
        known = [ratio for ratio in ratios if ratio is not None]
        return max(known) if known and len(known) == len(ratios) else None

    @property
    def least_speed_up(self) -> float | None:
        """The smallest of the lower bounds against the best baseline; None where a case has no valid one."""
        bounds = [item.speed_up.low if item.speed_up and not item.invalid else None for item in self.standings]
        known = [bound for bound in bounds if bound is not None]
        return min(known) if known and len(known) == len(bounds) else None

    @property
    def sentence(self) -> str:
        if self.refusal:
            return f"{self.verdict.capitalize()}: {refusal_sentence(self.refusal)}"
        shown = next((item.counterexample for item in self.evidence if item.counterexample), None)
        if shown:
            return f"Refuted: {shown.message}"
        mean = self.summary["geometric_mean"]
        return f"{self.verdict.capitalize()}." if mean is None else f"{mean:.3g} times the best baseline."

    def __repr__(self) -> str:
        lines = [f"{self.label} for {self.subject.task.key}: {self.sentence}"]
        lines += [" ".join(filter(None, row)) for row in self._rows()]
        lines += [f"our fault: {fault.where}: {fault.message}" for fault in self.faults]
        return "\n  ".join(lines)

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                item.case,
                item.cache.value,
                f"{item.time_us.value:.4g} µs ({item.time_us.low:.4g}–{item.time_us.high:.4g})" if item.time_us else "",
                f"{item.speed_up.value:.3g}x (at least {item.speed_up.low:.3g})" if item.speed_up else "",
                f"{item.share_of_limit:.0%} of the limit" if item.share_of_limit else "",
                item.invalid or "",
            )
            for item in self.standings
        ]

    def _repr_html_(self) -> str:
        from warpwright.app.notebook import paragraph, table

        columns = ("case", "L2", "time", "speed-up", "of limit", "")
        return paragraph(f"{self.label} for {self.subject.task.key}: {self.sentence}") + table(columns, self._rows())


def bench(
    kernel: KernelLike,
    task: TaskLike,
    *,
    inputs: Inputs = (),
    precision: str | None = None,
    baselines: Sequence[str] | None = None,
    seconds: float = 1.0,
    profile: bool = False,
    report: str | Path | None = None,
    sanitize: bool = False,
    gpu: str = "h200",
    fast_math: bool = False,
    on_progress: OnProgress | None = None,
) -> Benched:
    """Check and time a kernel on this machine's GPU; every timed call is checked too.

    Raises Undecided where there is no GPU. `report` keeps the profiler's report of one call in a file.
    """
    asked = asked_of(baselines, seconds)
    subject = subject_of(task, inputs, precision)
    ((label, job),) = jobs_for(subject, [kernel], asked, gpu, fast_math, on_progress)
    if isinstance(job, Refusal):
        return Benched(label=label, subject=subject, refusal=job)
    (judged,) = _judged([job], Reporter(on_progress))
    if sanitize:
        Reporter(on_progress).doing("sanitizing")
        judged = sanitized(job, judged)
    if profile or report:
        Reporter(on_progress).doing("profiling")
    limits = limited_by(job, Path(report) if report else None) if profile or report else None
    return Benched(label=label, subject=subject, judged=judged, limited_by=limits)


def compare(
    kernels: Sequence[KernelLike],
    task: TaskLike,
    *,
    inputs: Inputs = (),
    precision: str | None = None,
    seconds: float = 1.0,
    gpu: str = "h200",
    fast_math: bool = False,
    on_progress: OnProgress | None = None,
) -> tuple[Benched, ...]:
    """Check and time kernels for one task; each takes turns with the right ones before it and the eager reference."""
    if len(kernels) < 2:
        raise UsageError("a comparison needs at least two candidates; `warpwright bench` times one")
    subject = subject_of(task, inputs, precision)
    jobs = jobs_for(subject, kernels, asked_of(["eager"], seconds), gpu, fast_math, on_progress)
    judged = iter(_judged([job for _, job in jobs if isinstance(job, Job)], Reporter(on_progress)))
    return tuple(
        Benched(label=label, subject=subject, refusal=job)
        if isinstance(job, Refusal)
        else Benched(label=label, subject=subject, judged=next(judged))
        for label, job in jobs
    )


def asked_of(baselines: Sequence[str] | None, seconds: float) -> JudgeOptions:
    """How candidates are to be judged."""
    if not (seconds > 0.0 and math.isfinite(seconds)):
        raise UsageError("a number of seconds above 0 is needed for each case")
    return JudgeOptions(baselines=None if baselines is None else tuple(baselines), seconds_per_case=seconds)


def jobs_for(
    subject: Subject,
    kernels: Sequence[KernelLike],
    asked: JudgeOptions,
    gpu: str,
    fast_math: bool,
    on_progress: OnProgress | None,
) -> list[tuple[str, Job | Refusal]]:
    """A job for every kernel by its label, or why it cannot be sealed.

    Raises Undecided if the task cannot tell right from wrong and is not trusted.
    """
    from warpwright.dispatch.sealed_jobs import sealed_jobs
    from warpwright.verify.own_task import usable

    labels = [path.name if (path := path_of(kernel)) else f"kernel {number}" for number, kernel in enumerate(kernels)]
    if len(set(labels)) < len(labels):
        raise UsageError("two of the files have the same name: their rows could not be told apart")
    candidates = [candidate_of(kernel, gpu, fast_math) for kernel in kernels]
    Reporter(on_progress).doing("sealing")
    task = subject.task if subject.trusted else usable(subject.task)
    return sealed_jobs(task, list(zip(labels, candidates, strict=True)), asked)


def _judged(jobs: Sequence[Job], progress: Reporter) -> list[Judged]:
    """One after the other, each also beside those before it that are right."""
    from warpwright.dispatch.local import judge_here

    right: dict[str, Sealed] = {}
    found: list[Judged] = []
    with _GPU:
        progress.start(len(jobs), "judging")
        for judged in judge_here(replace(job, against=dict(right)) for job in jobs):
            sealed = jobs[len(found)].sealed
            if sealed is not None and {item.verdict for item in judged.evidence} == {Verdict.HOLDS}:
                right[judged.label] = sealed
            found.append(judged)
            progress.advance(f"judged {judged.label}")
    return found


def documents(benched: Sequence[Benched]) -> dict[str, Any]:
    """For programs: what the judge said, and the figures that follow from it."""
    stood = {item.label: item.standings for item in benched}
    return {
        "judged": [item.judged for item in benched if item.judged],
        "refusals": {item.label: item.refusal for item in benched if item.refusal},
        "standings": stood,
        "summaries": {label: summary(items) for label, items in stood.items()},
        "limited_by": next((item.limited_by for item in benched if item.limited_by), None),
    }


def undecided(benched: Benched) -> Undecided | None:
    """The error for a kernel that could be neither sealed nor refuted."""
    refusal = benched.refusal
    if refusal is None or refusal.verdict is not Verdict.UNDECIDED:
        return None
    return Undecided(f"{benched.label}: {refusal.reason}")
