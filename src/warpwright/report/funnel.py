"""The fates of a run's proposals, and its best candidate so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from warpwright.core.records.search import Basis, Fate, Member, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """Counts of proposals by fate; refuted ones also by rung."""

    proposed: int
    by_fate: Mapping[Fate, int]
    refuted_by: Mapping[str, int]


def funnel(snapshot: Snapshot) -> Funnel:
    fates = Counter(member.fate for member in snapshot.members)
    rungs = Counter(member.refuted_by or "unknown" for member in snapshot.members if member.fate is Fate.REFUTED)
    return Funnel(
        proposed=len(snapshot.members),
        by_fate={fate: fates[fate] for fate in Fate if fates[fate]},
        refuted_by=dict(sorted(rungs.items())),
    )


def best(snapshot: Snapshot) -> Member | None:
    """Returns the best member: a measured score precedes a predicted one, and any score precedes none.

    Of candidates without a score only those count that every check found correct; the newest is the best.
    """
    scored = [member for member in snapshot.members if member.score is not None]
    if not scored:
        return next((member for member in reversed(snapshot.members) if member.holds), None)
    sure = [member for member in scored if member.score and member.score.basis is Basis.MEASURED] or scored
    return max(sure, key=lambda member: member.score.value if member.score else 0.0, default=None)


def climb_of(snapshot: Snapshot) -> tuple[tuple[int, float], ...]:
    """Returns the best value after each proposal that improved it, for a chart of the run."""
    found: list[tuple[int, float]] = []
    for member in snapshot.members:
        if member.fate is Fate.IMPROVED and member.score is not None:
            found.append((member.brief.number, member.score.value))
    return tuple(found)
