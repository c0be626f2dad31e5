"""Climb: one candidate on the ladder, with its artefact and the evidence so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warpwright.core.candidate import Candidate
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Dossier, Evidence, Fault, Verdict
from warpwright.core.records.rungs import TASK
from warpwright.core.task import Case, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Climb:
    """An immutable value: a rung takes it and returns a copy with its own evidence added."""

    task: Task
    candidate: Candidate
    cases: tuple[Case, ...] | None = None
    """The cases to verify the candidate on; None stands for all cases of the task."""
    sealed: Sealed | None = None
    """The sealed candidate; None before the seal rung, or if it could not seal the candidate."""
    evidence: tuple[Evidence, ...] = ()
    faults: tuple[Fault, ...] = ()

    def with_evidence(self, evidence: Evidence, sealed: Sealed | None = None) -> Climb:
        """Returns the climb with the evidence and the artefact, if any, of one more rung."""
        return replace(self, evidence=(*self.evidence, evidence), sealed=sealed or self.sealed)

    def with_fault(self, fault: Fault) -> Climb:
        return replace(self, faults=(*self.faults, fault))

    @property
    def is_over(self) -> bool:
        """Whether the task cannot be used, a rung refuted the candidate or a fault of ours ended the climb."""
        return bool(self.faults) or any(item.verdict is Verdict.REFUTED or item.rung == TASK for item in self.evidence)

    @property
    def held(self) -> frozenset[str]:
        """The names of the rungs that returned HOLDS."""
        return frozenset(item.rung for item in self.evidence if item.verdict is Verdict.HOLDS)

    @property
    def dossier(self) -> Dossier:
        return Dossier(candidate=self.candidate.id, task=self.task.key, evidence=self.evidence, faults=self.faults)
