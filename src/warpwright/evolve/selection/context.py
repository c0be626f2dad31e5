"""Selects kernels that a prompt shows besides the parents: correct ones, slowest first, and a near miss."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from warpwright.core.records.search import Fate, Member, Operator
from warpwright.evolve.selection.population import RIGHT, Population, value

NEW_METHOD = (Operator.TRANSLATE, Operator.DERIVE, Operator.REWRITE, Operator.CROSSOVER, Operator.COMPOSE)
"""Operators that begin a method; the others change a kernel and keep its method."""


def context(people: Population, size: int, parents: Collection[str]) -> tuple[str, ...]:
    """The fastest candidate of each method that the parents do not have; slowest first.

    Near-copies of a kernel that is shown anyway would only lengthen the prompt.
    """
    seen = {_method(people.by_candidate[parent], people) for parent in parents if parent in people.by_candidate}
    fastest: list[str] = []
    for member in reversed(people.breedable):
        method = _method(member, people)
        if member.candidate and member.candidate not in parents and method not in seen and len(fastest) < size:
            fastest.append(member.candidate)
            seen.add(method)
    return tuple(reversed(fastest))


def _method(member: Member, people: Population) -> tuple[str | None, tuple[int, ...] | None]:
    """The candidate with which a method began, and the traits of this form of it."""
    origin = member
    while origin.brief.operator not in NEW_METHOD and (before := people.parents_of(origin)):
        origin = before[0]
    return origin.candidate, member.traits


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
