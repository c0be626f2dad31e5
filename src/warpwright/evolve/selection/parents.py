"""Who breeds: better candidates more often, and those with few children before those with many."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Sequence

from warpwright.core.records.search import Member
from warpwright.evolve.selection.population import value

STEEPNESS = 3.0
NARROWEST = 1e-6
"""The least spread: equal scores must not divide by zero."""


def weights(scores: Sequence[float], children: Sequence[int]) -> list[float]:
    """Sigmoid of the distance from the median in units of the median absolute deviation, over 1 + children."""
    middle = statistics.median(scores)
    spread = max(statistics.median(abs(score - middle) for score in scores), NARROWEST)
    return [
        _sigmoid(STEEPNESS * (score - middle) / spread) / (1 + count)
        for score, count in zip(scores, children, strict=True)
    ]


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(min(-x, 60.0)))


def parent(pool: Sequence[Member], planned: Counter[str], rng: random.Random, *, exploit: float) -> Member:
    """One of the pool, which is sorted slowest first. `planned` counts the children asked for in this decision."""
    if rng.random() < exploit:
        return pool[-1]
    counts = [member.children + planned[member.candidate or ""] for member in pool]
    return rng.choices(pool, weights([value(member) for member in pool], counts))[0]
