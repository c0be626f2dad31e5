"""Selects kernels to merge: the pair that together would gain most over the best kernel, on different shapes."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence

from warpwright.core.records.search import Member, Operator
from warpwright.evolve.selection.population import value

LEAST_GAIN = 0.05
"""The least gain, in log speed-up, for which a merge is worth a request: about five per cent."""
FASTEST = 12
"""The number of fastest kernels considered: the number of pairs is quadratic."""


def pair(structures: Sequence[Member], members: Sequence[Member]) -> tuple[Member, Member] | None:
    """The pair of members, sorted slowest first, that together would beat the best; pairs merged before are
    excluded."""
    merged = {frozenset(member.brief.parents) for member in members if member.brief.operator is Operator.SPECIALISE}
    open_ = [
        (union(one, other), one, other)
        for one, other in itertools.combinations(structures[-FASTEST:], 2)
        if frozenset((one.candidate, other.candidate)) not in merged
    ]
    found = max(open_, key=lambda item: item[0], default=None)
    return found[1:] if found and found[0] >= value(structures[-1]) + LEAST_GAIN else None


def union(one: Member, other: Member) -> float:
    """The score of the faster of the two in each case; minus infinity if they share no case."""
    first, second = _by_case(one), _by_case(other)
    cases = sorted(first.keys() & second.keys())
    return statistics.fmean(max(first[case], second[case]) for case in cases) if cases else -math.inf


def _by_case(member: Member) -> Mapping[str, float]:
    return member.score.by_case if member.score else {}
