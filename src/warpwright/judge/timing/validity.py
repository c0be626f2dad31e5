"""Whether a measured time is valid: a call may reuse the results of an earlier call, or do the work of a later one."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Sequence
from typing import Protocol

from warpwright.core.records.measurement import Cache

REPEAT_SHARE, REPEAT_SLACK_US = 0.8, 1.0
ALONE_SHARE, CHAINED_SHARE, ALONE_SLACK_US = 0.85, 0.7, 2.0
"""The least share of its time alone that a call may take among others. In a chain, the start of a call overlaps the end
of the one before.
"""
ALONE = 5
REPEATED_US, FEWEST_REPEATED = 10_000.0, 3
LOOKS = 3


class TimedCalls(Protocol):
    """Calls of one candidate on one case, ready to be timed."""

    @property
    def active(self) -> Sequence[int]:
        """The keys of the calls."""
        ...

    @property
    def chained(self) -> Collection[Cache] | None: ...

    @property
    def latest_us(self) -> float: ...

    @property
    def cost(self) -> float: ...

    @property
    def has_kernels(self) -> bool: ...

    def refill(self, positions: Sequence[int] | None = None) -> None: ...

    def samples(self, keys: Sequence[int | None], cache: Cache, restore: bool = True) -> list[float]: ...

    def alone(self, calls: int) -> list[float]: ...

    def block(self, cache: Cache) -> list[float]: ...

    def half_block(self) -> list[float]: ...


def invalid_reason(calls: TimedCalls) -> str | None:
    """The reason why the candidate's time is invalid, or None. A write to the memory of a later call refutes the
    candidate.
    """
    if not calls.has_kernels:
        return None  # torch's own operations neither keep results nor know of later calls
    if calls.chained is not None:
        calls.half_block()  # unchained calls were tested when their length was measured
    return _reuses_results(calls) or _precomputes(calls)


def _reuses_results(calls: TimedCalls) -> str | None:
    """Looks several times: a single slow first call may have been disturbed, a call that reuses results is always
    faster.
    """
    for _ in range(LOOKS):
        if (reason := _faster_again(calls)) is None:
            return None
    return reason


def _faster_again(calls: TimedCalls) -> str | None:
    calls.refill()
    keys = calls.active[: max(math.ceil(REPEATED_US / calls.latest_us), FEWEST_REPEATED)]
    first = statistics.median(calls.samples(keys, Cache.COLD)) - calls.cost
    twice = calls.samples([key for key in keys for _ in range(2)], Cache.COLD, restore=False)
    again = statistics.median(twice[1::2]) - calls.cost
    if again >= REPEAT_SHARE * first - REPEAT_SLACK_US:
        return None
    return f"{again:.1f} µs when called again on the same contents, {first:.1f} the first time: it reuses results"


def _precomputes(calls: TimedCalls) -> str | None:
    if len(calls.active) < 2:
        return None  # no other call has memory
    alone, together = statistics.median(calls.alone(ALONE)), statistics.median(calls.block(Cache.COLD))
    if together >= (ALONE_SHARE if calls.chained is None else CHAINED_SHARE) * alone - ALONE_SLACK_US:
        return None
    return f"{together:.1f} µs a call among others, {alone:.1f} alone: a call does the work of others"
