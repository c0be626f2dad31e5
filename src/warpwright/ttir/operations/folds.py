"""Reductions and scans. Regions that numpy knows run as its own reductions, all others by halves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwright.ttir.numbers import Array
from warpwright.ttir.operations.table import means
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine

_KNOWN: dict[str, np.ufunc] = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
}
_EXACT = ("f32", "f64", "i8", "i16", "i32", "i64")


def _known(operation: Operation) -> np.ufunc | None:
    """The ufunc of a region with one operation on its two parameters, in a type that numpy rounds alike."""
    block = operation.regions[0][0]
    if len(block.operations) != 2 or operation.taken[0].element not in _EXACT:
        return None
    return _KNOWN.get(block.operations[0].name)


def _spread(operation: Operation, values: list[Any]) -> list[Array]:
    programs = max(value.shape[0] for value in values)
    return [
        np.broadcast_to(value, (programs, *kind.shape)) for value, kind in zip(values, operation.taken, strict=True)
    ]


@means("tt.reduce")
def _reduce(machine: Machine, operation: Operation, values: list[Any]) -> Any:
    axis = operation.number("axis") + 1
    parts = _spread(operation, values)
    known = _known(operation)
    if known is not None:
        return known.reduce(parts[0], axis=axis, dtype=parts[0].dtype)
    while parts[0].shape[axis] > 1:
        parts = _halved(machine, operation, parts, axis)
    found = tuple(part.squeeze(axis) for part in parts)
    return found if len(found) > 1 else found[0]


def _halved(machine: Machine, operation: Operation, parts: list[Array], axis: int) -> list[Array]:
    """Combine neighbours; an element without one is combined with the last pair."""
    length = parts[0].shape[axis]
    even, odd = _slice(parts, axis, 0, length - length % 2, 2), _slice(parts, axis, 1, length, 2)
    merged = machine.combine(operation.regions[0], [*even, *odd])
    if length % 2 == 0:
        return merged
    last = _slice(parts, axis, length - 1, length, 1)
    return [np.concatenate(pair, axis=axis) for pair in zip(merged, last, strict=True)]


def _slice(parts: list[Array], axis: int, start: int, stop: int, step: int) -> list[Array]:
    where = (slice(None),) * axis + (slice(start, stop, step),)
    return [part[where] for part in parts]


@means("tt.scan")
def _scan(machine: Machine, operation: Operation, values: list[Any]) -> Any:
    """Inclusive, in steps that double: the operation is associative by contract."""
    axis = operation.number("axis") + 1
    parts = _spread(operation, values)
    if operation.attributes.get("reverse") == "true":
        parts = [np.flip(part, axis) for part in parts]
    known = _known(operation)
    if known is not None:
        parts = [known.accumulate(parts[0], axis=axis, dtype=parts[0].dtype)]
    else:
        parts = _doubling(machine, operation, parts, axis)
    if operation.attributes.get("reverse") == "true":
        parts = [np.flip(part, axis) for part in parts]
    return tuple(parts) if len(parts) > 1 else parts[0]


def _doubling(machine: Machine, operation: Operation, parts: list[Array], axis: int) -> list[Array]:
    length, step = parts[0].shape[axis], 1
    while step < length:
        earlier, later = _slice(parts, axis, 0, length - step, 1), _slice(parts, axis, step, length, 1)
        merged = machine.combine(operation.regions[0], [*earlier, *later])
        kept = _slice(parts, axis, 0, step, 1)
        parts = [np.concatenate(pair, axis=axis) for pair in zip(kept, merged, strict=True)]
        step *= 2
    return parts


@means("tt.map_elementwise")
def _map(machine: Machine, operation: Operation, values: list[Any]) -> Any:
    if operation.number("pack", 1) != 1:
        return machine.unsupported(operation, "packs of several elements")
    found = machine.combine(operation.regions[0], _spread(operation, values))
    return tuple(found) if len(found) > 1 else found[0]
