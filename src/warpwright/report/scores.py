"""Scores and costs, in words."""

from __future__ import annotations

import math

from warpwright.core.records.search import Basis, Score, Spent


def in_words(score: Score) -> str:
    if score.basis is Basis.PREDICTED:
        return f"{_percent(math.exp(score.value))} of the physical limit, predicted, not measured"
    share = "" if score.share_of_limit is None else f", {_percent(score.share_of_limit)} of the physical limit"
    return f"{math.exp(score.value):.2f} times the best torch baseline, measured{share}"


def spent_words(spent: Spent, limit_usd: float | None = None) -> str:
    dollars = f"${spent.usd:.4f}" + ("" if limit_usd is None else f" of ${limit_usd:.2f}")
    unknown = f" and {spent.unpriced} calls of unknown price" if spent.unpriced else ""
    return f"{dollars}{unknown}, {spent.tokens} tokens, {spent.gpu_seconds:.0f} s of GPU, {spent.wall_seconds:.0f} s"


def _percent(share: float) -> str:
    """Formats a share; tiny cases consist of launch time, so that their share is small but not zero."""
    return f"{share:.0%}" if share >= 0.01 else "under 1%"
