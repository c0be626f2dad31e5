"""The grid of elites: the best candidate of each combination of traits, so that odd but good ones keep breeding."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.core.search import Member

Cell = tuple[int, int, int, int]


def grid(members: Sequence[Member]) -> dict[Cell, Member]:
    """By cell, of members sorted slowest first. Those without traits are in none."""
    return {member.traits: member for member in members if member.traits is not None}


def elites(members: Sequence[Member]) -> tuple[Member, ...]:
    """One of each cell, slowest first; everyone where nobody has traits."""
    kept = {id(member) for member in grid(members).values()}
    return tuple(member for member in members if id(member) in kept) or tuple(members)
