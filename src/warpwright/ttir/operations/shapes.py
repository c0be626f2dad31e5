"""splat, broadcast, reshape, transpose, join, split, gather, histogram. The axis of programs comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwright.ttir.numbers import Array, whole
from warpwright.ttir.operations.table import means
from warpwright.ttir.syntax.attributes import integers
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine


@means("tt.splat")
def _splat(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.asarray(values[0].reshape(-1, *(1,) * len(operation.given[0].shape)))


@means("tt.unsplat")
def _unsplat(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.asarray(values[0].reshape(-1))


@means("tt.broadcast")
def _broadcast(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.asarray(values[0])


@means("tt.expand_dims")
def _expand(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.expand_dims(values[0], operation.number("axis") + 1)


@means("tt.make_range")
def _range(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    start, end = operation.number("start"), operation.number("end")
    return np.arange(start, end, dtype=np.int64).astype(np.int32)[None]


@means("tt.reshape")
def _reshape(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    value, target = values[0], operation.given[0]
    if value.size == value.shape[0]:
        return np.asarray(value.reshape(-1, *(1,) * len(target.shape)))
    return whole(value, operation.taken[0]).reshape(-1, *target.shape)


@means("tt.trans")
def _transpose(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    order = integers(operation.attributes["order"])
    return np.asarray(values[0].transpose(0, *(axis + 1 for axis in order)))


@means("tt.cat")
def _concatenate(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.concatenate(_alike(operation, values), axis=1)


@means("tt.join")
def _join(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.stack(_alike(operation, values), axis=-1)


def _alike(operation: Operation, values: list[Any]) -> list[Array]:
    """Operands with all their elements, for the same programs."""
    programs = max(value.shape[0] for value in values)
    return [np.broadcast_to(value, (programs, *operation.taken[0].shape)) for value in values]


@means("tt.split")
def _split(machine: Machine, operation: Operation, values: list[Any]) -> tuple[Array, Array]:
    both = np.broadcast_to(values[0], (*values[0].shape[:-1], 2))
    return both[..., 0], both[..., 1]


@means("tt.gather")
def _gather(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """Indices outside of the axis would read what is not there: they are undefined, and wrapped here."""
    source, index = operation.taken
    programs = max(value.shape[0] for value in values)
    data, at = (
        np.broadcast_to(value, (programs, *kind.shape)) for value, kind in zip(values, (source, index), strict=True)
    )
    axis = operation.number("axis")
    outside = machine.lanes((at < 0) | (at >= source.shape[axis]))
    if outside.any():
        machine.report_assert(operation, outside, "gathers from outside of a tensor")
    return np.take_along_axis(data, at % source.shape[axis], axis + 1)


@means("tt.histogram")
def _histogram(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """Counts of each number below the bins; what lies outside is not counted."""
    bins = operation.given[0].shape[0]
    data = whole(values[0], operation.taken[0]).reshape(values[0].shape[0], -1)
    counted = (data >= 0) & (data < bins)
    if len(values) > 1:
        counted = counted & np.broadcast_to(values[1], data.shape)
    rows = np.broadcast_to(np.arange(data.shape[0])[:, None], counted.shape)
    found = np.zeros((counted.shape[0], bins), np.int32)
    np.add.at(found, (rows[counted], np.broadcast_to(data, counted.shape)[counted]), 1)
    return found
