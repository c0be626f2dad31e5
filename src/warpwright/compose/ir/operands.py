"""Follows indices through the graph: which element of each operand an element of a value needs."""

from __future__ import annotations

from warpwright.compose.code.text import as_code
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, Flip, Index, Loaded, Place, Shift
from warpwright.compose.ir.operations import Axis, Flipped, Op, Permuted, Sliced
from warpwright.compose.ir.sizes import Cases
from warpwright.compose.ir.values import Value

SOMEWHERE = as_code("somewhere")
"""An index that only the kernel knows."""
Element = tuple[Value, Place]
"""A value, and the place of an element of it."""


def operands(value: Value, place: Place, cases: Cases) -> list[Element]:
    """The operands of an operation, with their places."""
    match value.op:
        case Op.RESHAPE:
            return [(value.first, _reshaped(value, place, cases))]
        case Op.BROADCAST:
            pairs = zip(place, value.first.shape, strict=True)
            return [(value.first, tuple(None if size.is_one else index for index, size in pairs))]
        case Op.PERMUTE:
            order = value.attr(Permuted).order
            return [(value.first, tuple(place[order.index(position)] for position in range(len(place))))]
        case Op.SLICE:
            cut = value.attr(Sliced)
            return [(value.first, _replaced(place, cut.dim, _moved(place[cut.dim], cut)))]
        case Op.FLIP:
            return [(value.first, _turned(place, value))]
        case Op.GATHER:
            table, index = value.args
            return [(index, place), (table, _replaced(place, value.attr(Axis).dim, Loaded(SOMEWHERE, ELEMENT)))]
        case Op.ROWS_AT:
            table, index = value.args
            rank = len(index.shape)
            return [(index, place[:rank]), (table, (Loaded(SOMEWHERE, ELEMENT), *place[rank:]))]
    return [(arg, place if arg.shape else ()) for arg in value.args]


def _reshaped(value: Value, place: Place, cases: Cases) -> Place:
    inner, flat = value.first.shape, indices.ravel(place, value.shape, cases)
    return (None,) * len(inner) if flat is None else indices.unravel(flat, inner, cases)


def _replaced(place: Place, dim: int, index: Index | None) -> Place:
    return (*place[:dim], index, *place[dim + 1 :])


def _moved(index: Index | None, cut: Sliced) -> Index | None:
    if cut.start.text == "0":
        return index
    return Loaded(SOMEWHERE, KERNEL) if index is None else Shift(index, cut.start)


def _turned(place: Place, value: Value) -> Place:
    dims = value.attr(Flipped).dims
    sides = enumerate(zip(place, value.shape, strict=True))
    return tuple(Flip(at, size) if dim in dims and at is not None else at for dim, (at, size) in sides)
