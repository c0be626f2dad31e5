"""Whether a candidate's time is one: a call may keep notes of another, or do the work of the next."""

from __future__ import annotations

import math
import statistics

from warpwright.core.records.measurement import Cache
from warpwright.judge.contestant import Contestant

REMEMBERED, REMEMBERED_US = 0.8, 1.0
AHEAD, AHEAD_IN_CHAINS, AHEAD_US = 0.85, 0.7, 2.0
"""How much faster a call may be among others than alone. A chain hides its start behind the end of the one before."""
ALONE = 5
DOUBT_US, FEWEST_DOUBTED = 10_000.0, 3


def doubt(candidate: Contestant) -> str | None:
    """Why its time would be none. Whoever writes to the memory of calls to come is refuted."""
    if candidate.chained is not None:
        candidate.some()  # calls that were timed by themselves have been looked at when their length was
    return _remembers(candidate) or _works_ahead(candidate)


def _remembers(candidate: Contestant) -> str | None:
    candidate.refill()
    keys = candidate.active[: max(math.ceil(DOUBT_US / candidate.latest_us), FEWEST_DOUBTED)]
    first = statistics.median(candidate.samples(keys, Cache.COLD)) - candidate.cost
    twice = candidate.samples([key for key in keys for _ in range(2)], Cache.COLD, restore=False)
    again = statistics.median(twice[1::2]) - candidate.cost
    if again >= REMEMBERED * first - REMEMBERED_US:
        return None
    return f"{again:.1f} µs when called again on the same contents, {first:.1f} the first time: it remembers"


def _works_ahead(candidate: Contestant) -> str | None:
    alone, together = statistics.median(candidate.alone(ALONE)), statistics.median(candidate.block(Cache.COLD))
    if together >= (AHEAD if candidate.chained is None else AHEAD_IN_CHAINS) * alone - AHEAD_US:
        return None
    return f"{together:.1f} µs a call among others, {alone:.1f} alone: a call does the work of others"
