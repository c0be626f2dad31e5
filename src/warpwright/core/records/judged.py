"""What is asked of a judge, and what it says: the records that travel to a GPU machine and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Evidence, Fault
from warpwright.core.records.measurement import Cache, Measurement
from warpwright.core.task import Case, Task

STANDARD = ("eager", "compile", "max-autotune")
"""Torch's own answers to every task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a candidate is to be judged."""

    check: bool = True
    time: bool = True
    baselines: tuple[str, ...] | None = None
    """None takes torch's own answers and those the task names; names are these and no others."""
    ceiling: bool = True
    """Whether a plain copy of as many bytes is timed beside what memory limits."""
    caches: tuple[Cache, ...] = (Cache.COLD, Cache.WARM)
    """A tuner that only ranks can do with one."""
    seconds_per_case: float = 1.0
    draws_per_check_case: int | None = None
    """None takes the task's own choice; a number bounds it, for a quick look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One sealed candidate with everything a judge needs. Hidden cases were drawn when it was sealed."""

    id: str
    label: str
    task: Task
    sealed: Sealed | None
    """None times the baselines alone."""
    hidden: tuple[Case, ...] = ()
    asked: Asked = field(default_factory=Asked)
    against: Mapping[str, Sealed] = field(default_factory=dict)
    """Other candidates by label, known to be right, that take turns with this one."""

    @property
    def baselines(self) -> tuple[str, ...]:
        asked = self.asked.baselines
        return (*STANDARD, *self.task.baselines) if asked is None else asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The outcome of a job. A fault is ours and says nothing of the candidate."""

    job: str
    label: str
    task: str
    candidate: str
    """Empty where the job had none, or could not be read."""
    evidence: tuple[Evidence, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    faults: tuple[Fault, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    crate: str | None = None
    """Hash of the code that judged."""
