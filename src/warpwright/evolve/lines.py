"""Lines: what came of one translation or one rewrite. A new paradigm is slow at first; its line keeps a leader."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.core.search import Member, Operator
from warpwright.evolve.population import Population

FOUNDING = (Operator.TRANSLATE, Operator.DERIVE, Operator.COMPOSE, Operator.REWRITE)


def founder(member: Member, people: Population) -> str | None:
    """The candidate that began a member's line; a crossover or a merge belongs to its first parent's."""
    while member.brief.operator not in FOUNDING:
        parents = people.parents_of(member)
        if not parents:
            break
        member = parents[0]
    return member.candidate


def leaders(members: Sequence[Member], people: Population) -> tuple[Member, ...]:
    """The best of each line, of members sorted slowest first."""
    best = {founder(member, people): member for member in members}
    kept = {member.candidate for member in best.values()}
    return tuple(member for member in members if member.candidate in kept)
