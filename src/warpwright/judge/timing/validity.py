"""Whether a measured time is valid: a call may reuse the results of an earlier call, or do the work of a later one."""

from __future__ import annotations

import math
import statistics

from warpwright.core.records.measurement import Cache
from warpwright.judge.timing.timed_candidate import TimedCandidate

REPEAT_SHARE, REPEAT_SLACK_US = 0.8, 1.0
ALONE_SHARE, CHAINED_SHARE, ALONE_SLACK_US = 0.85, 0.7, 2.0
"""The least share of its time alone that a call may take among others. In a chain, the start of a call overlaps the end
of the one before.
"""
ALONE = 5
REPEATED_US, FEWEST_REPEATED = 10_000.0, 3


def invalid_reason(candidate: TimedCandidate) -> str | None:
    """The reason why the candidate's time is invalid, or None. A write to the memory of a later call refutes the
    candidate.
    """
    if candidate.chained is not None:
        candidate.half_block()  # unchained calls were tested when their length was measured
    return _reuses_results(candidate) or _precomputes(candidate)


def _reuses_results(candidate: TimedCandidate) -> str | None:
    candidate.refill()
    keys = candidate.active[: max(math.ceil(REPEATED_US / candidate.latest_us), FEWEST_REPEATED)]
    first = statistics.median(candidate.samples(keys, Cache.COLD)) - candidate.cost
    twice = candidate.samples([key for key in keys for _ in range(2)], Cache.COLD, restore=False)
    again = statistics.median(twice[1::2]) - candidate.cost
    if again >= REPEAT_SHARE * first - REPEAT_SLACK_US:
        return None
    return f"{again:.1f} µs when called again on the same contents, {first:.1f} the first time: it reuses results"


def _precomputes(candidate: TimedCandidate) -> str | None:
    alone, together = statistics.median(candidate.alone(ALONE)), statistics.median(candidate.block(Cache.COLD))
    if together >= (ALONE_SHARE if candidate.chained is None else CHAINED_SHARE) * alone - ALONE_SLACK_US:
        return None
    return f"{together:.1f} µs a call among others, {alone:.1f} alone: a call does the work of others"
