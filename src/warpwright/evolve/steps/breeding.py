"""Requests the next generation: chooses operators, parents and hints."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.core.records.search import Member, Operator
from warpwright.evolve.selection.hints import hint
from warpwright.evolve.selection.parents import parent
from warpwright.evolve.selection.specialise import pair
from warpwright.evolve.steps.composing import compose
from warpwright.evolve.turn import Draft, Turn


def breed(turn: Turn) -> Draft | None:
    """The briefs of the next generation; None if no brief can be written any more."""
    merge(turn)
    if not turn.policy.arms:
        return compose(turn)
    while len(turn.briefs) < turn.policy.proposals and propose(turn):
        pass
    return turn.breed(f"{len(turn.briefs)} proposals from {_start(turn)}.", generation=turn.generation + 1)


def _start(turn: Turn) -> str:
    best = turn.people.best
    return f"a best score of {best.score.value:+.3f}" if best and best.score else "kernels without scores"


def merge(turn: Turn) -> None:
    found = pair(turn.people.structures, turn.members) if turn.policy.specialise else None
    parents = tuple(member.candidate or "" for member in found or ())
    if parents and turn.policy.arms:
        turn.ask_with_context(Operator.SPECIALISE, parents)
    elif parents:
        turn.build(Operator.SPECIALISE, parents, {})


def propose(turn: Turn) -> bool:
    """Writes one brief; False if the budget allows no arm."""
    one = _parent(turn, turn.people.breedable)
    other = partner(turn, one) if turn.rng.random() < turn.policy.crossover else None
    operator = Operator.REWRITE if turn.rng.random() < turn.policy.rewrite else Operator.OPTIMISE
    parents = tuple(member.candidate or "" for member in (one, other) if member)
    return turn.ask_with_context(Operator.CROSSOVER if other else operator, parents, hint=hint(turn, one))


def partner(turn: Turn, one: Member) -> Member | None:
    """Draws a partner for a crossover: faster than its parents, of another lineage, and in no earlier pair."""
    crossed = {frozenset(brief.parents) for brief in turn.all_briefs if brief.operator is Operator.CROSSOVER}
    ancestors = turn.people.lineage(one)
    others = [
        member
        for member in turn.people.structures
        if (turn.people.gain(member) or 0.0) > 0.0
        and member.candidate not in ancestors
        and one.candidate not in turn.people.lineage(member)
        and frozenset((one.candidate, member.candidate)) not in crossed
    ]
    return _parent(turn, others) if others else None


def _parent(turn: Turn, pool: Sequence[Member]) -> Member:
    return parent(pool, turn.planned, turn.rng, exploit=turn.policy.exploit)
