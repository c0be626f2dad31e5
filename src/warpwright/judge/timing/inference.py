"""Statistics of samples: medians, ratios and their intervals. Pure arithmetic."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 2000
PLACEMENT, PLACEMENT_US = 0.008, 0.05
"""How far the medians of two processes with the same kernel differ, by bench/trust.py: as a share and in microseconds.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


def median_interval(samples: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """A distribution-free confidence interval of the median, from order statistics."""
    ordered = sorted(samples)
    count = len(ordered)
    spread = statistics.NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(count) / 2
    low = max(math.floor(count / 2 - spread), 0)
    high = min(math.ceil(count / 2 + spread), count - 1)
    return ordered[low], ordered[high]


def median(samples: Sequence[float]) -> Interval:
    low, high = median_interval(samples)
    return Interval(value=statistics.median(samples), low=low, high=high)


def speed_up(candidate: Sequence[Sequence[float]], baseline: Sequence[Sequence[float]], seed: int = 0) -> Interval:
    """Median time of the baseline over that of the candidate, with a bootstrap interval.

    Samples come in blocks, one for each turn. Whole blocks are resampled first, then samples within them, so that drift
    between turns (clocks, temperature) widens the interval. The difference between two processes with the same kernel,
    which samples of one process each cannot show, is added as PLACEMENT.
    """
    generator = random.Random(seed)
    ratios = sorted(
        statistics.median(_resampled(baseline, generator)) / statistics.median(_resampled(candidate, generator))
        for _ in range(RESAMPLES)
    )
    value = statistics.median(_flat(baseline)) / statistics.median(_flat(candidate))
    edge, place = round(0.025 * RESAMPLES), value * _placement(_flat(candidate), _flat(baseline))
    return Interval(
        value=value,
        low=value - math.hypot(value - min(ratios[edge], value), place),
        high=value + math.hypot(max(ratios[-edge - 1], value) - value, place),
    )


def _placement(candidate: Sequence[float], baseline: Sequence[float]) -> float:
    """The relative uncertainty of a ratio that comes from memory placement in two processes."""
    each = [PLACEMENT_US / statistics.median(side) for side in (candidate, baseline)]
    return math.hypot(PLACEMENT, *each)


def geometric_mean(values: Sequence[float]) -> float | None:
    """Geometric mean; None for an empty sequence."""
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def _resampled(blocks: Sequence[Sequence[float]], generator: random.Random) -> list[float]:
    chosen = generator.choices(blocks, k=len(blocks))
    return [sample for block in chosen for sample in generator.choices(block, k=len(block))]


def _flat(blocks: Sequence[Sequence[float]]) -> list[float]:
    return [sample for block in blocks for sample in block]
