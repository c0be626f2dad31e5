"""Votes of language models, combined as log-odds, each weighed by the verifier's record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A reason for a vote, with the line of the kernel that it concerns, if any."""

    why: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """The vote of one verifier. `passed` is None if its answer could not be parsed."""

    verifier: str
    passed: bool | None = None
    confidence: float | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Counts of a verifier's earlier verdicts on labelled kernels."""

    passed_right: int = 0
    failed_right: int = 0
    passed_wrong: int = 0
    failed_wrong: int = 0

    def seen(self, passed: bool, right: bool) -> Record:
        name = f"{'passed' if passed else 'failed'}_{'right' if right else 'wrong'}"
        return replace(self, **{name: getattr(self, name) + 1})

    def weight(self, passed: bool) -> float:
        """Returns the shift of the log-odds by one vote. Adding one to every count keeps small records light."""
        right = (self.passed_right if passed else self.failed_right) + 1
        wrong = (self.passed_wrong if passed else self.failed_wrong) + 1
        rights = self.passed_right + self.failed_right + 2
        wrongs = self.passed_wrong + self.failed_wrong + 2
        return math.log(right / rights) - math.log(wrong / wrongs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """Counts of proposals that turned out correct and wrong."""

    right: int = 0
    wrong: int = 0

    @property
    def log_odds(self) -> float:
        return math.log((self.right + 1) / (self.wrong + 1))


def score(votes: Sequence[Vote], records: Mapping[str, Record], prior: Prior) -> float:
    """Returns the probability that the kernel is correct, by votes weighed with record and confidence."""
    shifts = (
        records[vote.verifier].weight(vote.passed) * vote.confidence
        for vote in votes
        if vote.passed is not None and vote.confidence is not None
    )
    return 1.0 / (1.0 + math.exp(-(prior.log_odds + sum(shifts))))


def tallied(judged: Iterable[tuple[bool, Sequence[Vote]]]) -> dict[str, Record]:
    """Counts the record of every verifier over labelled kernels."""
    records: dict[str, Record] = {}
    for right, votes in judged:
        for vote in votes:
            before = records.get(vote.verifier, Record())
            records[vote.verifier] = before if vote.passed is None else before.seen(vote.passed, right)
    return records
