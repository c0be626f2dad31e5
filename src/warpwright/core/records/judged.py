"""Jobs for a judge and their results: the records that travel to a GPU machine and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Evidence, Fault
from warpwright.core.records.measurement import Cache, Measurement
from warpwright.core.task import Case, Task

STANDARD = ("eager", "compile", "max-autotune")
"""Torch's standard implementations of every task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """How a candidate is to be judged."""

    check: bool = True
    time: bool = True
    baselines: tuple[str, ...] | None = None
    """None for the standard baselines and those that the task names; otherwise exactly these."""
    ceiling: bool = True
    """Whether to time a plain copy of as many bytes, for cases bound by memory."""
    caches: tuple[Cache, ...] = (Cache.COLD, Cache.WARM)
    """The cache states to time; a tuner that only ranks needs just one."""
    seconds_per_case: float = 1.0
    draws_per_check_case: int | None = None
    """None for the task's own number of draws; a number limits it, for a quick check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One sealed candidate with everything that a judge needs. Hidden cases were drawn when it was sealed."""

    id: str
    label: str
    task: Task
    sealed: Sealed | None
    """None to time only the baselines."""
    hidden: tuple[Case, ...] = ()
    asked: JudgeOptions = field(default_factory=JudgeOptions)
    against: Mapping[str, Sealed] = field(default_factory=dict)
    """Other candidates by label, known to be correct, timed in turns with this one."""

    @property
    def baselines(self) -> tuple[str, ...]:
        asked = self.asked.baselines
        return (*STANDARD, *self.task.baselines) if asked is None else asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The result of a job. A fault is ours and does not count against the candidate."""

    job: str
    label: str
    task: str
    candidate: str
    """Empty if the job had no candidate, or could not be read."""
    evidence: tuple[Evidence, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    faults: tuple[Fault, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    crate: str | None = None
    """Hash of the judge's code."""
