"""How reductions over a row are carried, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpwright.propose.composer.errors import CannotCompose
from warpwright.propose.composer.values import FLOAT, Value, walk


@dataclass(frozen=True, slots=True)
class Joint:
    """The largest and the sum of exponentials relative to it, in one pass: the sum is rescaled as the largest grows."""

    largest: Value
    total: Value
    guarded: bool
    """Whether an infinite largest is replaced by zero before it is subtracted."""


Carried = Value | Joint


def depths(reductions: Sequence[Value]) -> list[list[Value]]:
    """Reductions by the pass in which they can be computed: each needs those of earlier passes only."""
    known: dict[int, int] = {}
    wanted = {value.number for value in reductions}
    for value in walk(list(reductions)):
        below = max((known[arg.number] for arg in value.args), default=0)
        known[value.number] = below + (value.number in wanted)
    most = max((known[value.number] for value in reductions), default=0)
    return [[value for value in reductions if known[value.number] == depth] for depth in range(1, most + 1)]


def joined(passes: Sequence[Sequence[Value]]) -> list[list[Carried]]:
    """The same passes with every maximum joined by the sum of exponentials that waits for it, where there is one."""
    moved: dict[int, Joint] = {}
    for value in (value for group in passes for value in group):
        if joint := _joint(value):
            moved[joint.largest.number] = joint
    totals = {joint.total.number for joint in moved.values()}
    result: list[list[Carried]] = []
    for group in passes:
        kept: list[Carried] = [moved.get(value.number, value) for value in group if value.number not in totals]
        if kept:
            result.append(kept)
    return result


def _joint(value: Value) -> Joint | None:
    """sum(exp(x - max(x))), with or without a guard."""
    if value.op != "sum" or value.first.op != "exp" or value.first.first.op != "sub":
        return None
    x, shift = value.first.first.args
    guarded = False
    while shift.op in ("broadcast", "reshape", "finite"):
        guarded |= shift.op == "finite"
        shift = shift.first
    if shift.op != "amax" or shift.first is not x or shift.attrs != value.attrs:
        return None
    return Joint(shift, value, guarded)


def check(value: Value) -> Value:
    """Only floats are reduced, but for positions."""
    if value.op not in ("argmax", "argmin") and value.kind != FLOAT:
        raise CannotCompose(f"aten.{value.op} of integers")
    return value
