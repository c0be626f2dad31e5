"""Tensor descriptors: tiles of a tensor with bounds. What lies outside reads as zero and is not written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwright.core.errors import Undecided
from warpwright.ttir.memory.atomics import update
from warpwright.ttir.numbers import Array, stored
from warpwright.ttir.operations.table import means
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine


@dataclass(frozen=True, slots=True)
class Descriptor:
    """Address, extents and strides in elements, each with the axis of programs; the tile's shape and element."""

    base: Array
    shape: tuple[Array, ...]
    strides: tuple[Array, ...]
    tile: tuple[int, ...]
    element: str
    fills_nan: bool = False

    def lanes(self, offsets: list[Array], tile: tuple[int, ...]) -> tuple[Array, Array]:
        """The addresses of a tile, and which of them are inside."""
        rank = len(self.tile)
        at = self.base.reshape(-1, *(1,) * rank)
        inside: Array = np.ones((1,) * (rank + 1), np.bool_)
        for axis, offset in enumerate(offsets):
            index = _along(offset, axis, rank) + _along(np.arange(tile[axis])[None], axis, rank)
            inside = inside & (index >= 0) & (index < _along(self.shape[axis], axis, rank))
            at = at + index * _along(self.strides[axis], axis, rank) * stored(self.element).itemsize
        return at, inside


def _along(values: Array, axis: int, rank: int) -> Array:
    """A value for each program, or for each program and index of an axis, among `rank` axes."""
    shape = [1] * rank
    shape[axis] = values.shape[1] if values.ndim > 1 else 1
    return values.astype(np.int64).reshape(values.shape[0], *shape)


@means("tt.make_tensor_descriptor")
def _make(machine: Machine, operation: Operation, values: list[Any]) -> Descriptor:
    kind = operation.taken[-1]
    rank = len(kind.shape)
    shape, strides = values[1 : 1 + rank], values[1 + rank : 1 + 2 * rank]
    nan = "nan" in operation.attributes.get("padding", "")
    return Descriptor(values[0], tuple(shape), tuple(strides), kind.shape, kind.pointee, nan)


@means("tt.descriptor_load")
def _load(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    tile: Descriptor = values[0]
    addresses, inside = tile.lanes(values[1:], tile.tile)
    mask = machine.mask(inside, addresses.ndim)
    found = machine.access.read(addresses, mask, tile.element)
    if tile.fills_nan:
        found = np.where(inside, found, found.dtype.type(np.nan))
    return found.reshape(found.shape[0], *operation.given[0].shape)


@means("tt.descriptor_store")
def _store(machine: Machine, operation: Operation, values: list[Any]) -> tuple[()]:
    tile: Descriptor = values[0]
    data, offsets = _stored(operation, values)
    addresses, inside = tile.lanes(offsets, tile.tile)
    machine.access.write(addresses, data, machine.mask(inside, addresses.ndim), tile.element)
    return ()


@means("tt.descriptor_reduce")
def _reduce(machine: Machine, operation: Operation, values: list[Any]) -> tuple[()]:
    tile: Descriptor = values[0]
    data, offsets = _stored(operation, values)
    addresses, inside = tile.lanes(offsets, tile.tile)
    kind = {"add": "add", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor"}.get(operation.words[0])
    if kind is None:
        raise Undecided(f"unsupported: tt.descriptor_reduce {operation.words[0]}")
    mask = machine.mask(inside, addresses.ndim)
    update(machine.access, kind, "relaxed", addresses, data, mask, tile.element, used=False)
    return ()


def _stored(operation: Operation, values: list[Any]) -> tuple[Array, list[Array]]:
    """The tile that is written, in the descriptor's rank, and its offsets; the tile is the last operand."""
    tile: Descriptor = values[0]
    data = np.broadcast_to(values[-1], (values[-1].shape[0], *operation.taken[-1].shape))
    return data.reshape(data.shape[0], *tile.tile), values[1:-1]


@means("tt.descriptor_gather")
def _gather(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """Rows by number, from one column on."""
    addresses, inside = _rows(values[0], values[1], values[2], operation.given[0].shape)
    return machine.access.read(addresses, machine.mask(inside, addresses.ndim), values[0].element)


@means("tt.descriptor_scatter")
def _scatter(machine: Machine, operation: Operation, values: list[Any]) -> tuple[()]:
    addresses, inside = _rows(values[0], values[1], values[2], operation.taken[-1].shape)
    machine.access.write(addresses, values[-1], machine.mask(inside, addresses.ndim), values[0].element)
    return ()


def _rows(tile: Descriptor, rows: Array, column: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    down = rows.astype(np.int64)[:, :, None]
    across = column.astype(np.int64).reshape(-1, 1, 1) + np.arange(shape[1])[None, None]
    high, wide = (extent.reshape(-1, 1, 1) for extent in tile.shape)
    inside = (down >= 0) & (down < high) & (across >= 0) & (across < wide)
    step, unit = (stride.reshape(-1, 1, 1) for stride in tile.strides)
    width = stored(tile.element).itemsize
    return tile.base.reshape(-1, 1, 1) + (down * step + across * unit) * width, inside
