"""Whether a candidate's time is one: a call may keep notes of another, or do the work of the next."""

from __future__ import annotations

import math
import statistics

from warpwright.core.records.measurement import Cache
from warpwright.judge.timing.timed_candidate import TimedCandidate

REPEAT_SHARE, REPEAT_SLACK_US = 0.8, 1.0
ALONE_SHARE, CHAINED_SHARE, ALONE_SLACK_US = 0.85, 0.7, 2.0
"""How much faster a call may be among others than alone. A chain hides its start behind the end of the one before."""
ALONE = 5
REPEATED_US, FEWEST_REPEATED = 10_000.0, 3


def invalid_reason(candidate: TimedCandidate) -> str | None:
    """Why its time would be none. Whoever writes to the memory of calls to come is refuted."""
    if candidate.chained is not None:
        candidate.some()  # calls that were timed by themselves have been looked at when their length was
    return _remembers(candidate) or _works_ahead(candidate)


def _remembers(candidate: TimedCandidate) -> str | None:
    candidate.refill()
    keys = candidate.active[: max(math.ceil(REPEATED_US / candidate.latest_us), FEWEST_REPEATED)]
    first = statistics.median(candidate.samples(keys, Cache.COLD)) - candidate.cost
    twice = candidate.samples([key for key in keys for _ in range(2)], Cache.COLD, restore=False)
    again = statistics.median(twice[1::2]) - candidate.cost
    if again >= REPEAT_SHARE * first - REPEAT_SLACK_US:
        return None
    return f"{again:.1f} µs when called again on the same contents, {first:.1f} the first time: it remembers"


def _works_ahead(candidate: TimedCandidate) -> str | None:
    alone, together = statistics.median(candidate.alone(ALONE)), statistics.median(candidate.block(Cache.COLD))
    if together >= (ALONE_SHARE if candidate.chained is None else CHAINED_SHARE) * alone - ALONE_SLACK_US:
        return None
    return f"{together:.1f} µs a call among others, {alone:.1f} alone: a call does the work of others"
