"""What a writer is shown besides the parents: right kernels, slowest first, and one that nearly was."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from warpwright.core.records.search import Fate, Member, Operator
from warpwright.evolve.selection.population import RIGHT, Population, value


def context(people: Population, size: int, parents: Collection[str]) -> tuple[str, ...]:
    """The fastest that are no parents, one setting of each; slowest first, so that the list points upwards."""
    others = [member.candidate for member in people.structures if member.candidate and member.candidate not in parents]
    return tuple(others[max(len(others) - size, 0) :])


def near_misses(members: Sequence[Member], people: Population) -> list[str]:
    """Refuted candidates that no repair has put right, those of the best parents first, the latest of equals first."""
    mended = {
        parent
        for member in members
        if member.brief.operator is Operator.REPAIR and member.fate in RIGHT
        for parent in member.brief.parents
    }
    failed = [
        (hope(member, people), member.brief.number, member.candidate)
        for member in members
        if member.fate is Fate.REFUTED and member.issue and member.candidate and member.candidate not in mended
    ]
    return [candidate for _, _, candidate in sorted(failed, reverse=True)]


def hope(member: Member, people: Population) -> float:
    """The best score among its ancestors, through repairs; what has none hopes for nothing."""
    found = [value(parent) for parent in people.parents_of(member) if parent.score]
    wrong = [hope(parent, people) for parent in people.parents_of(member) if parent.fate is Fate.REFUTED]
    return max([*found, *wrong], default=float("-inf"))
