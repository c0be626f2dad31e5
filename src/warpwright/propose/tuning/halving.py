"""Successive halving: many settings get a cheap look, the better part of them a dearer one, and so on.

A Halving is a value: it says whom to score next and on which rung, and is given the scores. It knows nothing of kernels
or clocks. Scores of one rung are compared with each other and with nothing else, so that predictions and measurements
never meet. Larger is better. None stands for an entrant that has no score there, because it was refuted or could not be
measured: it goes no further.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from warpwright.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One look at an entrant."""

    name: str
    share: float = 0.5
    """How much of those who were scored here goes on to the next rung."""
    least: int = 1
    most: int | None = None
    """What the next rung can afford."""

    def __post_init__(self) -> None:
        if not (0.0 < self.share <= 1.0 and self.least >= 1 and (self.most is None or self.most >= self.least)):
            raise ValueError(f"rung {self.name} lets a share in (0, 1] pass, at least one and no fewer than `least`")

    def passing(self, scored: int) -> int:
        """How many of so many go on."""
        wanted = max(math.ceil(scored * self.share), self.least)
        return min(wanted, scored, self.most or scored)


RUNGS = (
    Rung(name="predicted", share=0.25, least=4, most=16),
    Rung(name="measured quickly", share=0.34, least=3),
    Rung(name="measured well"),
)
"""Rising cost: a prediction takes no GPU, a quick look some milliseconds of it, a good one some seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Whom to score now, and how."""

    rung: Rung
    entrants: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Halving:
    """Entrants are named by whoever runs them, by candidate id as a rule."""

    entrants: tuple[str, ...]
    rungs: tuple[Rung, ...] = RUNGS
    incumbent: str | None = None
    """Goes on as long as it has a score, so that the last rung says whether anything is better."""
    scores: tuple[Mapping[str, float | None], ...] = ()
    """One mapping for each rung that was begun."""

    def __post_init__(self) -> None:
        if not self.entrants or not self.rungs or len(set(self.entrants)) != len(self.entrants):
            raise ValueError("halving takes one entrant or more, each once, and one rung or more")
        if self.incumbent is not None and self.incumbent not in self.entrants:
            raise ValueError("the incumbent is one of the entrants")

    @property
    def turn(self) -> Turn | None:
        """What to do next; None when it is over."""
        for number, rung in enumerate(self.rungs):
            entrants = self._entrants(number)
            waiting = tuple(name for name in entrants if name not in self._scores(number))
            if waiting:
                return Turn(rung=rung, entrants=waiting)
            if not any(self._scores(number)[name] is not None for name in entrants):
                return None
        return None

    def fed(self, scores: Mapping[str, float | None]) -> Halving:
        """With scores for some or all of those whose turn it is. NaN counts as no score."""
        turn = self.turn
        strangers = set(scores) - set(turn.entrants if turn else ())
        if turn is None or strangers:
            raise UsageError(f"it is not the turn of {', '.join(sorted(strangers)) or 'anybody'}")
        number = self.rungs.index(turn.rung)
        known = {name: score if score is not None and score == score else None for name, score in scores.items()}
        return replace(self, scores=(*self.scores[:number], {**self._scores(number), **known}))

    @property
    def ranked(self) -> tuple[str, ...]:
        """The best first: those of the last rung that is over by their scores there, then those who left before."""
        order: dict[str, None] = {}
        for number in reversed(range(len(self.scores))):
            if not self._waiting(number):
                order |= dict.fromkeys(self._in_order(number))
        return tuple(order)

    @property
    def winner(self) -> str | None:
        """The best of the last rung; None as long as it is not over, or where nobody reached its end."""
        if self.turn is not None or len(self.scores) < len(self.rungs):
            return None
        return next(iter(self._in_order(len(self.rungs) - 1)), None)

    def _entrants(self, number: int) -> tuple[str, ...]:
        """Who comes to this rung, in the order of the rung before."""
        if number == 0:
            return self.entrants
        ranked = self._in_order(number - 1)
        passing = ranked[: self.rungs[number - 1].passing(len(ranked))]
        carried = [name for name in ranked[len(passing) :] if name == self.incumbent]
        return (*passing, *carried)

    def _scores(self, number: int) -> Mapping[str, float | None]:
        return self.scores[number] if number < len(self.scores) else {}

    def _waiting(self, number: int) -> bool:
        return any(name not in self._scores(number) for name in self._entrants(number))

    def _in_order(self, number: int) -> Sequence[str]:
        """Those with a score, best first; equals stay in the order they came in."""
        scored = {
            name: score for name in self._entrants(number) if (score := self._scores(number).get(name)) is not None
        }
        return sorted(scored, key=scored.__getitem__, reverse=True)
