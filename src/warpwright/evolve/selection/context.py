"""Selects kernels that a prompt shows besides the parents: correct ones, slowest first, and a near miss."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from warpwright.core.records.search import Fate, Member, Operator
from warpwright.evolve.selection.population import RIGHT, Population, value


def context(people: Population, size: int, parents: Collection[str]) -> tuple[str, ...]:
    """The fastest candidates besides the parents, one setting of each; slowest first."""
    others = [member.candidate for member in people.structures if member.candidate and member.candidate not in parents]
    return tuple(others[max(len(others) - size, 0) :])


def near_misses(members: Sequence[Member], people: Population) -> list[str]:
    """Refuted candidates without a successful repair, those of the best parents first, then the latest first."""
    repaired = {
        parent
        for member in members
        if member.brief.operator is Operator.REPAIR and member.fate in RIGHT
        for parent in member.brief.parents
    }
    failed = [
        (best_ancestor_score(member, people), member.brief.number, member.candidate)
        for member in members
        if member.fate is Fate.REFUTED and member.issue and member.candidate and member.candidate not in repaired
    ]
    return [candidate for _, _, candidate in sorted(failed, reverse=True)]


def best_ancestor_score(member: Member, people: Population) -> float:
    """The best score among a member's ancestors, through repairs; minus infinity if no ancestor has one."""
    found = [value(parent) for parent in people.parents_of(member) if parent.score]
    wrong = [best_ancestor_score(parent, people) for parent in people.parents_of(member) if parent.fate is Fate.REFUTED]
    return max([*found, *wrong], default=float("-inf"))
