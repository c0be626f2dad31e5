"""Successive halving: scores many settings cheaply, the better ones among them at a higher cost, and so on.

A Halving is a value: it states which entrants to score next and on which rung, and takes the scores. It is independent
of kernels and clocks. Scores are compared only within one rung, so predictions and measurements are never mixed. Larger
is better. None marks an entrant without a score on a rung, because it was refuted or could not be measured; it is
dropped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from warpwright.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One level of scoring."""

    name: str
    share: float = 0.5
    """The fraction of the scored entrants that passes to the next rung."""
    least: int = 1
    most: int | None = None
    """The largest number that passes to the next rung."""

    def __post_init__(self) -> None:
        if not (0.0 < self.share <= 1.0 and self.least >= 1 and (self.most is None or self.most >= self.least)):
            raise ValueError(f"rung {self.name} lets a share in (0, 1] pass, at least one and no fewer than `least`")

    def passing(self, scored: int) -> int:
        """How many of `scored` entrants pass to the next rung."""
        wanted = max(math.ceil(scored * self.share), self.least)
        return min(wanted, scored, self.most or scored)


RUNGS = (
    Rung(name="predicted", share=0.25, least=4, most=16),
    Rung(name="measured quickly", share=0.34, least=3),
    Rung(name="measured well"),
)
"""Rungs in order of cost: a prediction takes no GPU, a quick measurement milliseconds of one, a good one seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The entrants to score now, and the rung to score them on."""

    rung: Rung
    entrants: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Halving:
    """The state of a successive halving. Entrants have names, usually candidate ids."""

    entrants: tuple[str, ...]
    rungs: tuple[Rung, ...] = RUNGS
    incumbent: str | None = None
    """An entrant that always passes if it has a score, so that the last rung shows whether any other is better."""
    scores: tuple[Mapping[str, float | None], ...] = ()
    """The scores of each rung that has begun."""

    def __post_init__(self) -> None:
        if not self.entrants or not self.rungs or len(set(self.entrants)) != len(self.entrants):
            raise ValueError("halving takes one entrant or more, each once, and one rung or more")
        if self.incumbent is not None and self.incumbent not in self.entrants:
            raise ValueError("the incumbent is one of the entrants")

    @property
    def turn(self) -> Turn | None:
        """The next entrants to score; None at the end."""
        for number, rung in enumerate(self.rungs):
            entrants = self._entrants(number)
            waiting = tuple(name for name in entrants if name not in self._scores(number))
            if waiting:
                return Turn(rung=rung, entrants=waiting)
            if not any(self._scores(number)[name] is not None for name in entrants):
                return None
        return None

    def fed(self, scores: Mapping[str, float | None]) -> Halving:
        """Adds scores of some or all entrants of the current turn. NaN counts as no score."""
        turn = self.turn
        strangers = set(scores) - set(turn.entrants if turn else ())
        if turn is None or strangers:
            raise UsageError(f"no score is due for {', '.join(sorted(strangers)) or 'any entrant'}")
        number = self.rungs.index(turn.rung)
        known = {name: score if score is not None and score == score else None for name, score in scores.items()}
        return replace(self, scores=(*self.scores[:number], {**self._scores(number), **known}))

    @property
    def ranked(self) -> tuple[str, ...]:
        """The entrants, best first: those of the last finished rung by their scores there, then those dropped
        earlier."""
        order: dict[str, None] = {}
        for number in reversed(range(len(self.scores))):
            if not self._waiting(number):
                order |= dict.fromkeys(self._in_order(number))
        return tuple(order)

    @property
    def winner(self) -> str | None:
        """The best of the last rung; None until that rung has ended, or if no entrant has a score there."""
        if self.turn is not None or len(self.scores) < len(self.rungs):
            return None
        return next(iter(self._in_order(len(self.rungs) - 1)), None)

    def _entrants(self, number: int) -> tuple[str, ...]:
        """The entrants of a rung, in the order of the rung before."""
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
        """The entrants with a score, best first; ties keep their order."""
        scored = {
            name: score for name in self._entrants(number) if (score := self._scores(number).get(name)) is not None
        }
        return sorted(scored, key=scored.__getitem__, reverse=True)
