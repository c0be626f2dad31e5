"""Tuning: constants are a machine's work. A structural win that leaves some open has them tried, step by step."""

from __future__ import annotations

from warpwright.core.records.search import Action, Member, Operator
from warpwright.evolve.ledger import evaluations_left
from warpwright.evolve.selection.configs import Genome, key, neighbours
from warpwright.evolve.selection.population import structure_of
from warpwright.evolve.turn import Draft, Turn


def tune(turn: Turn) -> Draft | None:
    """After an evaluation: neighbours of a new best candidate, until its settings or their budget are exhausted."""
    best = turn.people.best
    if turn.last_action is not Action.EVALUATE or best is None or best.generation != turn.generation:
        return None
    if evaluations_left(turn.snapshot, turn.policy, turn.given) == 0:
        return None
    tuned = _tuned(best, turn)
    allowed = min(turn.policy.tunes - len(tuned), turn.policy.evaluate)
    for genome in _untried(best, tuned, turn)[: max(allowed, 0)]:
        turn.build(Operator.TUNE, (best.candidate or "",), genome)
    return turn.breed("The best candidate is new and leaves constants open.")


def _tuned(best: Member, turn: Turn) -> list[Member]:
    """All settings of the same source that were asked for."""
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
