"""Measured times, with everything needed to question them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The machine and software of a run. Unknown values are None."""

    machine: str | None = None
    python: str | None = None
    torch: str | None = None
    gpu: str | None = None
    driver: str | None = None
    compilers: Mapping[str, str] = field(default_factory=dict)
    clocks_mhz: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of torch, the same for the candidate's library calls and for the baselines."""
    warpwright: str | None = None
    crate: str | None = None


COPY = "copy"
"""The subject that is no baseline: a plain copy of as many bytes as the task moves, for the bandwidth reached in
practice.
"""


class Cache(StrEnum):
    COLD = "cold"
    WARM = "warm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discard:
    """Discarded samples and the reason."""

    reason: str
    samples_us: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Raw device times of one subject on one case; statistics are derived, never stored."""

    subject: str
    task: str
    case: str
    cache: Cache
    samples_us: tuple[float, ...]
    blocks: tuple[int, ...] = ()
    """The number of samples of each turn, in order; samples of one turn share its drift."""
    discards: tuple[Discard, ...] = ()
    stopped_because: str
    invalid: str | None = None
    """Why the time must not be used: clocks that disagree, a time below the physical floor."""
    scene: Scene
    library_share: float | None = None
    """The share of the time that torch's own kernels take."""
    peak_bytes: int | None = None
    """Device memory that one call needs beyond its inputs, results included."""

    def __post_init__(self) -> None:
        if not all(0.0 < sample < float("inf") for sample in self.samples_us):
            raise ValueError("a sample is a positive, finite number of microseconds")
        if self.blocks and sum(self.blocks) != len(self.samples_us):
            raise ValueError("the blocks do not add up to the samples")

    @property
    def median_us(self) -> float | None:
        return statistics.median(self.samples_us) if self.samples_us else None
