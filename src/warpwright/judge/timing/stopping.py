"""The stopping rule of a measurement. It is fed floats and knows nothing of GPUs."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from dataclasses import dataclass, field

from warpwright.judge.timing.inference import median_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The precision to reach, and the samples and seconds it may cost."""

    least: int = 24
    most: int = 400
    relative_error: float = 0.004
    """Half the 95 % interval of the median, over the median."""
    entropy_flatness: float = 0.02
    """Bits by which the samples' entropy may change over the last half and still count as settled."""
    seconds: float = 3.0


@dataclass(slots=True, kw_only=True)
class Stopping:
    """Collects samples and decides when to stop, with the reason."""

    limits: Limits = field(default_factory=Limits)
    samples: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)

    def feed(self, sample_us: float) -> None:
        self.samples.append(sample_us)
        self.entropies.append(entropy(self.samples))

    def reason(self, elapsed_s: float) -> str | None:
        """The reason to stop now; None to go on. Only the time limit may stop before the least number of samples."""
        count = len(self.samples)
        if elapsed_s >= self.limits.seconds:
            return f"time budget of {self.limits.seconds:g} s"
        if count >= self.limits.most:
            return f"{count} samples, the most allowed"
        if count < self.limits.least:
            return None
        if self._median_known():
            return f"median known to {self.limits.relative_error:.1%}"
        return "nothing new in the samples" if self._entropy_flat() else None

    def _median_known(self) -> bool:
        low, high = median_interval(self.samples)
        return (high - low) / 2 <= self.limits.relative_error * statistics.median(self.samples)

    def _entropy_flat(self) -> bool:
        """Whether the entropy has settled: a distribution with several modes never narrows, but its entropy settles."""
        if len(self.samples) < 4 * self.limits.least:
            return False
        recent = self.entropies[len(self.entropies) // 2 :]
        return max(recent) - min(recent) <= self.limits.entropy_flatness


def entropy(samples: list[float]) -> float:
    """Entropy in bits, with bins of half a per cent of the median."""
    width = max(statistics.median(samples) * 0.005, 1e-9)
    counts = Counter(round(sample / width) for sample in samples)
    return -sum(count / len(samples) * math.log2(count / len(samples)) for count in counts.values())
