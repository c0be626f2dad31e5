"""Subjects take turns at being timed, on inputs nobody has seen before, until enough is known.

Candidate and baselines alternate (ABBA), so that what drifts meets all of them alike. Calls too short for an event pair
are timed many to a graph, one right after the other, each on memory of its own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from warpwright.core.records.measurement import Cache, Discard
from warpwright.judge.timing.nvml import Nvml, disturbed
from warpwright.judge.timing.stopping import Limits, Stopping

SHORT_US = 30.0
"""Below this an event pair's own cost, which differs from process to process, would show in the result."""
PLAIN_SLOTS = 12
POOL_BYTES = 8 << 30
"""Memory of the calls that are kept ready, for each subject."""
CHAINS, CHAIN_CALLS = 4, 8
"""So many chains of so many calls, on all sides: the start of a chain is shared by its calls."""


class DroppedOut(Exception):
    """A baseline that stopped working: it is left out, and the candidate is timed without it."""


class Timed(Protocol):
    """Something that is timed, block by block."""

    name: str

    def is_short(self) -> bool:
        """Whether a call is too short for an event pair."""
        ...

    def block(self, cache: Cache) -> list[float]: ...

    def chain(self) -> None: ...

    def slope_us(self) -> float | None:
        """Time of one call by our own wall clock; None for those we trust."""
        ...


@dataclass(slots=True, kw_only=True)
class Series:
    """Samples of one subject in the blocks they were taken in, and what was thrown away."""

    blocks: list[list[float]] = field(default_factory=list)
    discards: list[Discard] = field(default_factory=list)
    stopped_because: str = ""
    lost: str | None = None
    """Why a baseline dropped out."""


def interleave(subjects: Sequence[Timed], cache: Cache, limits: Limits, nvml: Nvml) -> dict[str, Series]:
    """Lets the subjects take turns, there and back, until the first of them is known well enough."""
    series = {subject.name: Series() for subject in subjects}
    stopping, start, reason = Stopping(limits=limits), time.perf_counter(), None
    order = list(subjects)
    while reason is None:
        for subject in [item for item in order if series[item.name].lost is None]:
            samples = _turn(subject, cache, nvml, series[subject.name])
            if subject is subjects[0]:
                for sample in samples:
                    stopping.feed(sample)
        order.reverse()
        reason = stopping.reason(time.perf_counter() - start) if stopping.samples else None
        if reason is None and time.perf_counter() - start > 4 * limits.seconds:
            reason = "every block was disturbed"
    for item in series.values():
        item.stopped_because = reason
    return series


def _turn(subject: Timed, cache: Cache, nvml: Nvml, series: Series) -> list[float]:
    before = nvml.read()
    try:
        samples = subject.block(cache)
    except DroppedOut as lost:
        series.lost = str(lost)
        return []
    if reason := disturbed(before, nvml.read()):
        series.discards.append(Discard(reason=reason, samples_us=tuple(samples)))
        return []
    series.blocks.append(samples)
    return samples


def chain_keys(number: int, cache: Cache) -> dict[int, bool]:
    """The graphs of a chain by key, beyond the keys of single calls, and whether each holds the work.

    Where calls are warm there is also one of the reads that come before each, to be subtracted.
    """
    key = 1000 * (1 + 2 * number + (cache is Cache.WARM))
    return {key: True, key + 1: False} if cache is Cache.WARM else {key: True}


def per_call_us(samples: Sequence[float], cache: Cache, cost: float, calls: int) -> list[float]:
    """Time of one call, from samples of the parts of chains one after the other."""
    whole, idle = (samples[::2], samples[1::2]) if cache is Cache.WARM else (samples, [cost] * len(samples))
    return [max((work - rest) / calls, 1e-3) for work, rest in zip(whole, idle, strict=True)]
