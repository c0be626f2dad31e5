"""Tries other values of the tunable constants of a new best candidate, step by step, without a model."""

from __future__ import annotations

from warpwright.core.records.search import Action, Member, Operator
from warpwright.evolve.ledger import evaluations_left
from warpwright.evolve.selection.configs import Genome, key, neighbours
from warpwright.evolve.selection.population import structure_of
from warpwright.evolve.turn import Draft, Turn


def tune(turn: Turn) -> Draft | None:
    """Requests neighbours of a new best candidate after an evaluation, until its settings or the budget are used up."""
    best = turn.people.best
    if turn.last_action is not Action.EVALUATE or best is None or best.generation != turn.generation:
        return None
    if evaluations_left(turn.snapshot, turn.policy) == 0:
        return None
    tuned = _tuned(best, turn)
    allowed = min(turn.policy.tunes - len(tuned), turn.policy.evaluate)
    for genome in _untried(best, tuned, turn)[: max(allowed, 0)]:
        turn.build(Operator.TUNE, (best.candidate or "",), genome)
    return turn.breed("The best candidate is new and has tunable constants.")


def _tuned(best: Member, turn: Turn) -> list[Member]:
    """All members that are settings of the same source."""
    root = structure_of(best, turn.people.by_candidate)
    asked = (member for member in turn.members if member.brief.operator is Operator.TUNE)
    return [member for member in asked if structure_of(member, turn.people.by_candidate) == root]


def _untried(best: Member, tuned: list[Member], turn: Turn) -> list[Genome]:
    declared = turn.given.tunables.get(best.candidate or "")
    if declared is None:
        return []
    root = turn.given.tunables.get(structure_of(best, turn.people.by_candidate) or "", declared)
    tried = {key(root.genome)}.union(key(member.brief.genome) for member in tuned)
    near = [genome for genome in neighbours(declared.genome, declared.space) if key(genome) not in tried]
    turn.rng.shuffle(near)
    return near
