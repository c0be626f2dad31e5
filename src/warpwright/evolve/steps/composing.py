"""Breeds without a language model: mutates and crosses configs of the composer."""

from __future__ import annotations

from warpwright.core.records.search import Member, Operator
from warpwright.evolve.selection.configs import Genome, anywhere, crossed, fresh, key, mutated
from warpwright.evolve.selection.parents import parent
from warpwright.evolve.turn import Draft, Turn

SCATTER = 0.15
"""The fraction of configs drawn from the whole space, so that the search leaves local optima."""


def compose(turn: Turn) -> Draft | None:
    """Requests the composer's default config and its neighbours first, then children of the best."""
    tried = {key(member.brief.genome) for member in turn.members if member.brief.operator is Operator.COMPOSE}
    if not tried:
        turn.build(Operator.COMPOSE, (), _first(turn))
        tried.add(key(_first(turn)))
    while len(turn.briefs) < turn.policy.proposals:
        parents = _parents(turn)
        genome = fresh(lambda: _child(turn, parents), tried)  # noqa: B023
        if genome is None:
            break
        tried.add(key(genome))
        turn.build(Operator.COMPOSE, tuple(member.candidate or "" for member in parents), genome)
    generation = turn.generation + 1 if turn.people.best else turn.generation
    composed = sum(brief.operator is Operator.COMPOSE for brief in turn.briefs)
    merged = "" if composed == len(turn.briefs) else "Two kernels that are fastest on different shapes are merged. "
    return turn.breed(f"{merged}The composer tries {_configs(composed)}.", generation=generation)


def _configs(count: int) -> str:
    return "one new config" if count == 1 else f"{count} new configs"


def _first(turn: Turn) -> Genome:
    return turn.given.genome or {name: values[0] for name, values in turn.given.space.items()}


def _parents(turn: Turn) -> tuple[Member, ...]:
    pool = [member for member in turn.people.breedable if member.brief.genome]
    if not pool or turn.rng.random() < SCATTER:
        return ()
    one = parent(pool, turn.planned, turn.rng, exploit=turn.policy.exploit)
    other = parent(pool, turn.planned, turn.rng, exploit=0.0)
    return (one, other) if one is not other and turn.rng.random() < 0.5 else (one,)


def _child(turn: Turn, parents: tuple[Member, ...]) -> Genome:
    space, rng = turn.given.space, turn.rng
    match parents:
        case (one, other):
            mixed = crossed(one.brief.genome, other.brief.genome, space, rng)
            return mixed if rng.random() < 0.5 else mutated(mixed, space, rng)
        case (one,):
            return mutated(one.brief.genome, space, rng)
    return anywhere(space, rng) if turn.people.best else mutated(_first(turn), space, rng)
