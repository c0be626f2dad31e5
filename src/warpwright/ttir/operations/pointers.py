"""Loads, stores and pointer arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwright.ttir.numbers import Array, stored
from warpwright.ttir.operations.table import means
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine


@means("tt.addptr")
def _advance(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """Offsets keep the width that they were computed in, so that an overflow stays one."""
    width = stored(operation.taken[0].pointee).itemsize
    return np.asarray(values[0] + values[1].astype(np.int64) * width)


@means("tt.load")
def _load(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    """Lanes that are off get `other`, or zero: Triton's code clears the register before a masked load."""
    mask = machine.mask(values[1] if len(values) > 1 else None, values[0].ndim)
    found = machine.access.read(values[0], mask, operation.taken[0].pointee)
    if len(values) < 3:
        return found
    assert mask is not None
    return np.where(mask, found, values[2])


@means("tt.store")
def _store(machine: Machine, operation: Operation, values: list[Any]) -> tuple[()]:
    mask = machine.mask(values[2] if len(values) > 2 else None, values[0].ndim)
    machine.access.write(values[0], values[1], mask, operation.taken[0].pointee)
    return ()
