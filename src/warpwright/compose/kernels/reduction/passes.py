"""Assigns reductions over a row to passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul

from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir.operations import Constant, Extent, Op, Reduced
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.values import FLOAT, Value, under_views, walk


@dataclass(frozen=True, slots=True)
class OnlineSoftmax:
    """Online softmax: the maximum and the sum of exponentials relative to it, in one pass."""

    largest: Value
    total: Value
    guarded: bool
    """Whether an infinite maximum is replaced by zero before it is subtracted."""


@dataclass(frozen=True, slots=True)
class Variance:
    """Welford: a mean and the sum of squared differences from it, in one pass."""

    total: Value
    mean: Value
    squares: Value


Carried = Value | OnlineSoftmax | Variance


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
    """Fuses reductions that depend on a maximum or a mean into the pass that computes it."""
    moved: dict[int, Carried] = {}
    drawn: set[int] = set()
    for value in (value for group in passes for value in group):
        if (joint := _joint(value)) and joint.largest.number not in moved:
            moved[joint.largest.number] = joint
            drawn.add(value.number)
        elif (spread := _variance(value)) and spread.total.number not in moved:
            moved[spread.total.number] = spread
            drawn.add(value.number)
    kept = [[moved.get(value.number, value) for value in group if value.number not in drawn] for group in passes]
    return [group for group in kept if group]


def _joint(value: Value) -> OnlineSoftmax | None:
    """sum(exp(x - max(x))), with or without a guard."""
    power = _in_own_order(value)
    if value.op is not Op.SUM or power.op is not Op.EXP or power.first.op is not Op.SUB:
        return None
    x, shift = power.first.args
    guarded = False
    while shift.op in (Op.BROADCAST, Op.RESHAPE, Op.FINITE):
        guarded |= shift.op is Op.FINITE
        shift = shift.first
    if shift.op is not Op.AMAX or not _are_alike(shift, value) or _in_own_order(shift) is not x:
        return None
    return OnlineSoftmax(shift, value, guarded)


def _variance(value: Value) -> Variance | None:
    """sum((x - mean(x)) ** 2)."""
    square = _in_own_order(value)
    if value.op is not Op.SUM or square.op is not Op.MUL or square.args[0] is not square.args[1]:
        return None
    centred = square.first
    if centred.op is not Op.SUB:
        return None
    x, mean = centred.first, under_views(centred.args[1])
    total = mean.first
    if mean.op is not Op.DIV or total.op is not Op.SUM:
        return None
    if not _are_alike(total, value) or _in_own_order(total) is not x:
        return None
    count = under_views(mean.args[1])
    reduced = value.first.shape[-value.attr(Reduced).dims :]
    return Variance(total, mean, value) if _is_count(count, reduced) else None


def _in_own_order(reduction: Value) -> Value:
    """The operand of a reduction, before its dimensions are permuted so that the reduced ones come last."""
    return reduction.first.first if reduction.first.op is Op.PERMUTE else reduction.first


def _are_alike(one: Value, other: Value) -> bool:
    """Whether two reductions are over the same dimensions of operands of one shape."""
    orders = [item.first.attrs if item.first.op is Op.PERMUTE else None for item in (one, other)]
    return one.attrs == other.attrs and orders[0] == orders[1]


def _is_count(value: Value, reduced: Sequence[Size]) -> bool:
    """Whether the value is the number of summed elements."""
    if value.op is not Op.TO_FLOAT:
        return False
    known = reduce(mul, reduced)
    match value.first.attrs:
        case Extent(size=size):
            return size == known
        case Constant(value=number):
            return {number} == set(known.values)
    return False


def check(value: Value) -> Value:
    """Checks that a reduction is over floats, or gives positions."""
    if value.op not in (Op.ARGMAX, Op.ARGMIN) and value.kind != FLOAT:
        raise CannotCompose(f"aten.{value.op} of integers")
    return value
