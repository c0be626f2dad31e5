"""What samples allow one to say: medians, ratios, and how sure one may be. Pure arithmetic."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 2000
PLACEMENT, PLACEMENT_US = 0.008, 0.05
"""How far apart two processes with the same kernel were found to be, by bench/trust.py: a share, and microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


def median_interval(samples: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Order statistics that hold the median with the given confidence, whatever the distribution."""
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

    Samples come in blocks, one for each turn the two took. Blocks are resampled whole, then samples within them:
    what drifts between turns (clocks, temperature) is part of the uncertainty, not averaged away. So is what differs
    between two processes that run the same kernel, which no number of samples in these two can show.
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
    """The relative uncertainty of a ratio that comes from where the memory of two processes happens to lie."""
    each = [PLACEMENT_US / statistics.median(side) for side in (candidate, baseline)]
    return math.hypot(PLACEMENT, *each)


def geometric_mean(values: Sequence[float]) -> float | None:
    """None of nothing: an absent mean is not 1."""
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def _resampled(blocks: Sequence[Sequence[float]], generator: random.Random) -> list[float]:
    chosen = generator.choices(blocks, k=len(blocks))
    return [sample for block in chosen for sample in generator.choices(block, k=len(block))]


def _flat(blocks: Sequence[Sequence[float]]) -> list[float]:
    return [sample for block in blocks for sample in block]
