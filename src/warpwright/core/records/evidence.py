"""Evidence about a candidate and, kept apart from it, faults of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from warpwright.core.records.measurement import Scene
from warpwright.core.records.rungs import OPINION, PROVE


class Verdict(StrEnum):
    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """The refutation of a candidate, in enough detail to reproduce and repair it."""

    kind: str
    message: str
    case: str | None = None
    line: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The finding of one rung about one candidate. REFUTED has a counterexample, UNDECIDED a reason."""

    candidate: str
    rung: str
    verdict: Verdict
    reason: str | None = None
    skipped: bool = False
    """Whether this machine cannot climb the rung at all (no GPU, no compiler), whatever the candidate."""
    counterexample: Counterexample | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    scene: Scene | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if (self.verdict is Verdict.REFUTED) != (self.counterexample is not None):
            raise ValueError("a counterexample comes with REFUTED and only with it")
        if self.verdict is Verdict.UNDECIDED and not self.reason:
            raise ValueError("UNDECIDED needs a reason")
        if self.skipped and self.verdict is not Verdict.UNDECIDED:
            raise ValueError("a skipped rung is UNDECIDED")

    @property
    def is_opinion(self) -> bool:
        """Whether this is the opinion of a language model, which decides nothing."""
        return self.reason == OPINION

    @property
    def is_open_proof(self) -> bool:
        """Whether lifted numbers could not decide, which says nothing about the candidate: tests still do."""
        return self.rung == PROVE and self.verdict is Verdict.UNDECIDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A failure of ours: no compiler, GPU lost, disk full. It can never become a verdict or a score."""

    where: str
    message: str
    retryable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier:
    """All evidence about one candidate, in the order of the ladder, with the faults that occurred."""

    candidate: str
    task: str
    evidence: tuple[Evidence, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """REFUTED if any rung refuted; HOLDS only if every rung that could be climbed here held, without a fault."""
        deciding = (item for item in self.evidence if not (item.skipped or item.is_opinion or item.is_open_proof))
        verdicts = {item.verdict for item in deciding}
        if Verdict.REFUTED in verdicts:
            return Verdict.REFUTED
        if verdicts == {Verdict.HOLDS} and not self.faults:
            return Verdict.HOLDS
        return Verdict.UNDECIDED

    @property
    def refutation(self) -> Evidence | None:
        return next((item for item in self.evidence if item.verdict is Verdict.REFUTED), None)
