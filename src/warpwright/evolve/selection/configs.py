"""Genomes of the composer and settings of tunables: neighbours, mixtures, and those that were not tried yet.

A space gives the values of each gene in their order, so that the next value up or down is a neighbour.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from typing import Any

from warpwright.core.codec import dumps

Space = Mapping[str, tuple[Any, ...]]
Genome = Mapping[str, Any]

TRIES = 32
"""Draws before a space counts as exhausted: the larger share of a space is tried, the rarer a new genome."""


def key(genome: Genome) -> str:
    """Equal for equal genomes."""
    return dumps(genome)


def neighbours(genome: Genome, space: Space) -> list[Genome]:
    """One gene changed by one step, all of them."""
    return [
        {**genome, name: values[place]} for name, values in space.items() for place in _steps(genome.get(name), values)
    ]


def _steps(now: Any, values: tuple[Any, ...]) -> list[int]:
    if now not in values:
        return list(range(len(values)))
    place = values.index(now)
    return [other for other in (place - 1, place + 1) if 0 <= other < len(values)]


def mutated(genome: Genome, space: Space, rng: random.Random) -> Genome:
    """One step; another one with one chance in three, and so on."""
    while True:
        near = neighbours(genome, space)
        if not near:
            return genome
        genome = rng.choice(near)
        if rng.random() >= 1 / 3:
            return genome


def crossed(one: Genome, other: Genome, space: Space, rng: random.Random) -> Genome:
    """Each gene from either parent."""
    return {name: rng.choice((one, other)).get(name, values[0]) for name, values in space.items()}


def anywhere(space: Space, rng: random.Random) -> Genome:
    return {name: rng.choice(values) for name, values in space.items()}


def fresh(make: Any, tried: Collection[str]) -> Genome | None:
    """The first genome that `make` gives and that was not tried; None where many draws give none."""
    for _ in range(TRIES):
        genome: Genome = make()
        if key(genome) not in tried:
            return genome
    return None
