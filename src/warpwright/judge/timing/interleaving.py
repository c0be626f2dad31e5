"""Candidate and baselines take turns, each on fresh inputs, until the candidate's median is known precisely enough.

The order alternates (ABBA), so that drift affects all of them alike. Calls too short for a pair of events are timed
many to a graph, back to back, each on its own memory.
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
"""Microseconds below which the cost of a pair of events, which differs between processes, would distort the time."""
PLAIN_SLOTS = 12
POOL_BYTES = 8 << 30
"""Bytes of the calls that are kept ready, for each timed subject."""
CHAINS, CHAIN_CALLS = 4, 8
"""The number of chains and the calls in each, on all sides: the calls of a chain share the cost of its start."""


class DroppedOut(Exception):
    """A baseline stopped working: the candidate is timed without it."""


class Timed(Protocol):
    """A subject that is timed block by block."""

    name: str
    peak_bytes: int | None
    """Device memory that one call needs beyond its inputs, results included; None for the plain copy."""

    def is_short(self) -> bool:
        """Whether a call is too short for a pair of events."""
        ...

    def block(self, cache: Cache) -> list[float]: ...

    def chain(self) -> None: ...

    def slope_us(self) -> float | None:
        """The time of one call by the wall clock; None for subjects whose code is ours."""
        ...


@dataclass(slots=True, kw_only=True)
class Series:
    """Samples of one subject, in the blocks in which they were taken, and discarded samples."""

    blocks: list[list[float]] = field(default_factory=list)
    discards: list[Discard] = field(default_factory=list)
    stopped_because: str = ""
    lost: str | None = None
    """The reason why a baseline dropped out."""


def interleave(subjects: Sequence[Timed], cache: Cache, limits: Limits, nvml: Nvml) -> dict[str, Series]:
    """Times the subjects in turns, forwards and backwards, until the first one is known precisely enough."""
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
    """The graph keys of a chain, distinct from those of single calls, and whether each graph holds the work.

    A warm chain has a second graph with only the reads before each call, whose time is subtracted.
    """
    key = 1000 * (1 + 2 * number + (cache is Cache.WARM))
    return {key: True, key + 1: False} if cache is Cache.WARM else {key: True}


def per_call_us(samples: Sequence[float], cache: Cache, cost: float, calls: int) -> list[float]:
    """The time of one call, from samples of whole chains and of the parts to subtract."""
    whole, idle = (samples[::2], samples[1::2]) if cache is Cache.WARM else (samples, [cost] * len(samples))
    return [max((work - rest) / calls, 1e-3) for work, rest in zip(whole, idle, strict=True)]
