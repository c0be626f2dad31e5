"""Mutates and crosses configs: those of the composer, and settings of tunables. Records call a config `genome`.

A space lists the values of each knob in order, so that the next value up or down is a neighbour.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from typing import Any

from warpwright.core.codec import dumps

Space = Mapping[str, tuple[Any, ...]]
Genome = Mapping[str, Any]

TRIES = 32
"""The number of draws before a space counts as exhausted: the more of a space is tried, the rarer a new config."""


def key(genome: Genome) -> str:
    """A string that is equal for equal configs."""
    return dumps(genome)


def neighbours(genome: Genome, space: Space) -> list[Genome]:
    """All configs that differ from this one by one step of one knob."""
    return [
        {**genome, name: values[place]} for name, values in space.items() for place in _steps(genome.get(name), values)
    ]


def _steps(now: Any, values: tuple[Any, ...]) -> list[int]:
    if now not in values:
        return list(range(len(values)))
    place = values.index(now)
    return [other for other in (place - 1, place + 1) if 0 <= other < len(values)]


def mutated(genome: Genome, space: Space, rng: random.Random) -> Genome:
    """The config after a random number of steps: one, and each time another with probability 1/3."""
    while True:
        near = neighbours(genome, space)
        if not near:
            return genome
        genome = rng.choice(near)
        if rng.random() >= 1 / 3:
            return genome


def crossed(one: Genome, other: Genome, space: Space, rng: random.Random) -> Genome:
    """A config that takes each knob from either parent."""
    return {name: rng.choice((one, other)).get(name, values[0]) for name, values in space.items()}


def anywhere(space: Space, rng: random.Random) -> Genome:
    return {name: rng.choice(values) for name, values in space.items()}


def fresh(make: Any, tried: Collection[str]) -> Genome | None:
    """The first untried config that `make` draws; None after too many draws."""
    for _ in range(TRIES):
        genome: Genome = make()
        if key(genome) not in tried:
            return genome
    return None
