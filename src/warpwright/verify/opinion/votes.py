"""Votes of language models, and what they are worth together: log-odds, weighed by how often each was right before."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What was found, and at which line of the kernel, if any."""

    why: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One verifier's word. `passed` is None where its answer could not be read: no vote."""

    verifier: str
    passed: bool | None = None
    confidence: float | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Earlier verdicts of a verifier on kernels of known truth."""

    passed_right: int = 0
    failed_right: int = 0
    passed_wrong: int = 0
    failed_wrong: int = 0

    def seen(self, passed: bool, right: bool) -> Record:
        name = f"{'passed' if passed else 'failed'}_{'right' if right else 'wrong'}"
        return replace(self, **{name: getattr(self, name) + 1})

    def weight(self, passed: bool) -> float:
        """How much a vote shifts the log-odds of being right. One is added to every count, so few say little."""
        right = (self.passed_right if passed else self.failed_right) + 1
        wrong = (self.passed_wrong if passed else self.failed_wrong) + 1
        rights = self.passed_right + self.failed_right + 2
        wrongs = self.passed_wrong + self.failed_wrong + 2
        return math.log(right / rights) - math.log(wrong / wrongs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """Proposals that turned out right and wrong before anyone was asked."""

    right: int = 0
    wrong: int = 0

    @property
    def log_odds(self) -> float:
        return math.log((self.right + 1) / (self.wrong + 1))


def score(votes: Sequence[Vote], records: Mapping[str, Record], prior: Prior) -> float:
    """The chance that the kernel is right, as far as votes can tell. Doubt in a vote takes from its weight."""
    shifts = (
        records[vote.verifier].weight(vote.passed) * vote.confidence
        for vote in votes
        if vote.passed is not None and vote.confidence is not None
    )
    return 1.0 / (1.0 + math.exp(-(prior.log_odds + sum(shifts))))


def tallied(judged: Iterable[tuple[bool, Sequence[Vote]]]) -> dict[str, Record]:
    """The record of every verifier over kernels of known truth: whether each is right, and the votes on it."""
    records: dict[str, Record] = {}
    for right, votes in judged:
        for vote in votes:
            before = records.get(vote.verifier, Record())
            records[vote.verifier] = before if vote.passed is None else before.seen(vote.passed, right)
    return records
