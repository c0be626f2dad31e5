"""Atomic operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwright.ttir.memory.atomics import exchange_if, update
from warpwright.ttir.numbers import Array
from warpwright.ttir.operations.table import means
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine


@means("tt.atomic_rmw")
def _update(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    kind, semantics = operation.words[0], operation.words[1]
    at = _every_lane(values[0], operation)
    mask = machine.mask(values[2] if len(values) > 2 else None, at.ndim)
    element = operation.taken[0].pointee
    return update(machine.access, kind, semantics, at, values[1], mask, element, used=operation.used)


@means("tt.atomic_cas")
def _exchange_if(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    at = _every_lane(values[0], operation)
    mask = machine.mask(None, at.ndim)
    element = operation.taken[0].pointee
    return exchange_if(machine.access, operation.words[0], at, values[1], values[2], mask, element)


def _every_lane(addresses: Array, operation: Operation) -> Array:
    """One address for every lane, also where all are the same: each lane updates once."""
    return np.broadcast_to(addresses, (addresses.shape[0], *operation.taken[0].shape))
