"""Program numbers, assertions, barriers, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warpwright.ttir.numbers import Array, kept
from warpwright.ttir.operations.table import means
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine

_AXES = {"x": 0, "y": 1, "z": 2}


@means("tt.get_program_id")
def _program(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return machine.spots[_AXES[operation.words[0]]]


@means("tt.get_num_programs")
def _programs(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    return np.array([machine.grid[_AXES[operation.words[0]]]], np.int32)


@means("tt.assert")
def _assert(machine: Machine, operation: Operation, values: list[Any]) -> tuple[()]:
    failed = machine.lanes(~values[0].astype(np.bool_))
    if failed.any():
        machine.report_assert(operation, failed, f"fails the assertion {' '.join(operation.words)}")
    return ()


@means("tt.call")
def _call(machine: Machine, operation: Operation, values: list[Any]) -> Any:
    return machine.call(operation.words[0].strip('@"'), values)


@means("ub.poison")
def _poison(machine: Machine, operation: Operation, values: list[Any]) -> Array:
    kind = operation.type
    return np.zeros((1,) + (1,) * len(kind.shape), kept(kind.element))


@means(
    "ttg.barrier",
    "gpu.barrier",
    "tt.print",
    "tt.grid_dependency_wait",
    "tt.grid_dependency_launch_dependents",
    "llvm.intr.assume",
)
def _nothing(machine: Machine, operation: Operation, values: list[Any]) -> tuple[()]:
    return ()
