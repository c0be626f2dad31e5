"""Scores and costs, in words."""

from __future__ import annotations

import math

from warpwright.core.records.search import Basis, Member, Score, Spent

_MOST_TIMES = 6


def in_words(score: Score) -> str:
    if score.basis is Basis.PREDICTED:
        return f"{_percent(math.exp(score.value))} of the physical limit, predicted, not measured"
    share = "" if score.share_of_limit is None else f", {_percent(score.share_of_limit)} of the physical limit"
    return f"{math.exp(score.value):.2f} times the best torch baseline, measured{share}"


def standing_words(member: Member) -> str:
    """States the score of a correct candidate with its times, or that it has neither."""
    if member.score is None:
        return "correct; its time could be neither measured nor predicted"
    times = times_words(member.score)
    return in_words(member.score) + (f": {times}" if times else "")


def times_words(score: Score) -> str:
    """Lists the time of each case, the longest first."""
    longest = sorted(score.times_us.items(), key=lambda item: -item[1])
    more = f" and {len(longest) - _MOST_TIMES} more" if len(longest) > _MOST_TIMES else ""
    return ", ".join(f"{case} {time:.4g} µs" for case, time in longest[:_MOST_TIMES]) + more


def spent_words(spent: Spent, limit_usd: float | None = None) -> str:
    dollars = f"${spent.usd:.4f}" + ("" if limit_usd is None else f" of ${limit_usd:.2f}")
    unknown = f" and {spent.unpriced} calls of unknown price" if spent.unpriced else ""
    return f"{dollars}{unknown}, {spent.tokens} tokens, {spent.gpu_seconds:.0f} s of GPU, {spent.wall_seconds:.0f} s"


def _percent(share: float) -> str:
    """Formats a share; tiny cases consist of launch time, so that their share is small but not zero."""
    return f"{share:.0%}" if share >= 0.01 else "under 1%"
