"""The members of a run for selection: the correct candidates, their scores, and their variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpwright.core.records.search import Basis, Fate, Member, Operator, Snapshot

RIGHT = (Fate.WAITING, Fate.UNDECIDED, Fate.UNSCORED, Fate.SLOWER, Fate.IMPROVED)
"""Fates of candidates that no check has refuted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    by_candidate: Mapping[str, Member]
    scored: tuple[Member, ...]
    """The scored members in the order of their briefs, all on one basis: measured, if any member is measured."""
    structures: tuple[Member, ...]
    """The scored members, with only the best setting of each tuned source; slowest first."""
    unscored: tuple[Member, ...]
    """The correct members whose time could be neither measured nor predicted, in the order of their briefs."""

    @property
    def breedable(self) -> tuple[Member, ...]:
        """The candidates to improve: the scored ones, slowest first; as long as there is none, the unscored."""
        return self.structures or self.unscored

    @property
    def best(self) -> Member | None:
        return self.breedable[-1] if self.breedable else None

    def parents_of(self, member: Member) -> tuple[Member, ...]:
        found = (self.by_candidate.get(parent) for parent in member.brief.parents)
        return tuple(parent for parent in found if parent is not None)

    def lineage(self, member: Member) -> dict[str, Member]:
        """A member and its ancestors, by candidate."""
        found: dict[str, Member] = {}
        open_ = [member]
        while open_:
            now = open_.pop()
            if now.candidate is not None and now.candidate not in found:
                found[now.candidate] = now
                open_ += self.parents_of(now)
        return found

    def gain(self, member: Member) -> float | None:
        """The log speed-up over the best of its parents; None if either side has no score."""
        before = [value(parent) for parent in self.parents_of(member) if parent.score]
        return value(member) - max(before) if member.score and before else None


def population(snapshot: Snapshot) -> Population:
    by_candidate: dict[str, Member] = {}
    for member in snapshot.members:
        if member.candidate is not None and member.fate is not Fate.DUPLICATE:
            by_candidate[member.candidate] = member
    scored = [member for member in snapshot.members if member.score]
    if any(member.score and member.score.basis is Basis.MEASURED for member in scored):
        scored = [member for member in scored if member.score and member.score.basis is Basis.MEASURED]
    return Population(
        by_candidate=by_candidate,
        scored=tuple(scored),
        structures=_best_settings(scored, by_candidate),
        unscored=tuple(member for member in snapshot.members if member.fate is Fate.UNSCORED),
    )


def value(member: Member) -> float:
    """The score of a member that has one."""
    assert member.score is not None
    return member.score.value


def structure_of(member: Member, by_candidate: Mapping[str, Member]) -> str | None:
    """The candidate whose constants were tuned to get this one; the candidate itself if it is not a tuned one."""
    while member.brief.operator is Operator.TUNE and member.brief.parents:
        parent = by_candidate.get(member.brief.parents[0])
        if parent is None:
            break
        member = parent
    return member.candidate


def _best_settings(scored: list[Member], by_candidate: Mapping[str, Member]) -> tuple[Member, ...]:
    best: dict[str | None, Member] = {}
    for member in sorted(scored, key=lambda member: (value(member), -member.brief.number)):
        best[structure_of(member, by_candidate)] = member
    return tuple(sorted(best.values(), key=lambda member: (value(member), -member.brief.number)))
