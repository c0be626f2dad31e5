"""Chooses settings of a kernel's tunable constants to try, and ranks them with few measurements."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from warpwright import languages
from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.languages import Value
from warpwright.propose.tuning.halving import RUNGS, Halving, Rung

MOST = 16
"""The default number of settings to try: each is sealed and emulated."""
PREDICTED, MEASURED = RUNGS[0], RUNGS[-1]
_COUNTABLE = 2**62

Look = Callable[[Rung, Sequence[Candidate]], Mapping[str, float | None]]
"""The score of each candidate on a rung, by id; None for one that is wrong or cannot be scored there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    candidate: Candidate
    settings: Mapping[str, Value]


def entrants(candidate: Candidate, most: int = MOST) -> tuple[Entrant, ...]:
    """The kernel as it is, then other settings of it: all settings, or a uniform sample of `most`."""
    language = languages.of(candidate)
    values = language.space(candidate.source)
    if not values:
        raise UsageError(f"the kernel has no tunable; {language.words.tunable}")
    found = {candidate.id: Entrant(candidate=candidate, settings=language.settings(candidate.source))}
    for chosen in _chosen(values, most):
        other = replace(candidate, source=language.with_settings(candidate.source, chosen))
        found.setdefault(other.id, Entrant(candidate=other, settings=chosen))
    return tuple(found.values())[:most]


def _chosen(values: Mapping[str, tuple[Value, ...]], most: int) -> Iterator[dict[str, Value]]:
    """Draws settings by number, without listing all of them; the same ones every time."""
    total = min(math.prod(map(len, values.values())), _COUNTABLE)
    numbers = range(total) if total <= most else sorted(random.Random(0).sample(range(total), most))
    for number in numbers:
        chosen: dict[str, Value] = {}
        for name, choices in values.items():
            number, place = divmod(number, len(choices))
            chosen[name] = choices[place]
        yield chosen


def tuned(tried: Sequence[Entrant], look: Look, *, measured: bool) -> Halving:
    """Runs the halving to its end. With a GPU, predictions select the entrants to measure; if no prediction is
    possible, every entrant is measured."""
    rungs = (PREDICTED, MEASURED) if measured else (PREDICTED,)
    done = _played(_halving(tried, rungs), tried, look)
    if measured and done.winner is None:
        done = _played(_halving(tried, (MEASURED,)), tried, look)
    return done


def _halving(tried: Sequence[Entrant], rungs: tuple[Rung, ...]) -> Halving:
    names = tuple(entrant.candidate.id for entrant in tried)
    return Halving(entrants=names, rungs=rungs, incumbent=names[0])


def _played(halving: Halving, tried: Sequence[Entrant], look: Look) -> Halving:
    by_id = {entrant.candidate.id: entrant.candidate for entrant in tried}
    while (turn := halving.turn) is not None:
        halving = halving.fed(look(turn.rung, [by_id[name] for name in turn.entrants]))
    return halving
