"""Samples parents: better candidates more often, and candidates with few children before those with many."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Sequence

from warpwright.core.records.search import Member

STEEPNESS = 3.0
NARROWEST = 1e-6
"""The smallest spread used, so that equal scores do not divide by zero."""


def weights(scores: Sequence[float], children: Sequence[int]) -> list[float]:
    """The sigmoid of each score's distance from the median in median absolute deviations, over 1 + children."""
    middle = statistics.median(scores)
    spread = max(statistics.median(abs(score - middle) for score in scores), NARROWEST)
    return [
        _sigmoid(STEEPNESS * (score - middle) / spread) / (1 + count)
        for score, count in zip(scores, children, strict=True)
    ]


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(min(-x, 60.0)))


def parent(pool: Sequence[Member], planned: Counter[str], rng: random.Random, *, exploit: float) -> Member:
    """Draws a parent from the pool, sorted slowest first. `planned` counts children requested in this decision.

    Members without scores, of which a pool consists until one has a score, are equally good.
    """
    if rng.random() < exploit:
        return pool[-1]
    counts = [member.children + planned[member.candidate or ""] for member in pool]
    scores = [member.score.value if member.score else 0.0 for member in pool]
    return rng.choices(pool, weights(scores, counts))[0]
