"""The result of a proof, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from warpwright.core.records.evidence import Counterexample


class Grade(StrEnum):
    """What the comparison of two formulas found."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseProof:
    """The finding on one case."""

    case: str
    grade: Grade
    reason: str | None = None
    """UNSUPPORTED only: the construct."""
    counterexample: Counterexample | None = None
    """DIFFERENT only."""
    draws: int = 0
    """How many draws of inputs were compared."""
    elements: int = 0
    error: float | None = None
    """EQUAL only: the probability, for each degree of the formula, that two different formulas agree by chance."""
    dims: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The findings on all cases that were tried."""

    cases: tuple[CaseProof, ...] = ()
    reason: str | None = None
    """Why no case was tried, if none was."""

    @property
    def grade(self) -> Grade:
        """DIFFERENT if any case is; EQUAL only if all cases are."""
        grades = {item.grade for item in self.cases}
        if Grade.DIFFERENT in grades:
            return Grade.DIFFERENT
        return Grade.EQUAL if grades == {Grade.EQUAL} else Grade.UNSUPPORTED

    @property
    def counterexample(self) -> Counterexample | None:
        return next((item.counterexample for item in self.cases if item.counterexample), None)

    @property
    def unsupported(self) -> str | None:
        """The first construct that kept a case from being decided."""
        return self.reason or next((item.reason for item in self.cases if item.reason), None)

    @property
    def sentence(self) -> str:
        match self.grade:
            case Grade.EQUAL:
                shown = ", ".join(item.case for item in self.cases)
                return f"EQUAL: computes the formula of the reference in {len(self.cases)} cases ({shown})"
            case Grade.DIFFERENT:
                found = self.counterexample
                return f"DIFFERENT: {found.message if found else 'another formula'}"
            case Grade.UNSUPPORTED:
                return f"UNSUPPORTED: {self.unsupported or 'no case could be decided'}"
