"""Runs a launch: every program of a grid, in batches along a leading axis, forward or in reverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from warpwright.core.errors import Undecided
from warpwright.ttir.findings import Finding, Findings, Kind, Triple
from warpwright.ttir.machine import Machine
from warpwright.ttir.memory.access import Access
from warpwright.ttir.memory.allocations import Memory
from warpwright.ttir.memory.clocks import Clocks
from warpwright.ttir.memory.reports import Reports
from warpwright.ttir.memory.shadow import Shadow
from warpwright.ttir.numbers import Array, kept, rounded
from warpwright.ttir.operations.descriptors import Descriptor
from warpwright.ttir.syntax.attributes import integers
from warpwright.ttir.syntax.tree import Function, Module
from warpwright.ttir.syntax.types import Type
from warpwright.ttir.writing import operations, written

_LANES = 1 << 18
_MOST_IN_A_BATCH = 4096
_MOST_ORDERED = 4096

Argument = int | float | bool | Descriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A kernel on a grid. Arguments are addresses, numbers and descriptors, in the order of the kernel's parameters."""

    module: Module
    grid: Triple
    arguments: Sequence[Argument]
    programs: Sequence[int] | None = None
    """The programs to run, by number; all by default."""
    reverse: bool = False


def run(launch: Launch, memory: Memory) -> tuple[Finding, ...]:
    """Run a launch on a memory, which holds its results afterwards. Undecided names what is not supported."""
    kernel = launch.module.entry()
    findings = Findings()
    arguments = _arguments(kernel, launch.arguments, findings)
    _open(kernel, launch.arguments, memory)
    clocks = _clocks(launch)
    access = Access(memory, Reports(findings, launch.grid), clocks)
    machine = Machine(launch.module, access, findings, launch.grid)
    for numbers in _batches(launch, 1 if clocks else _size(kernel)):
        machine.run(kernel, numbers, arguments)
    access.finish()
    return findings.all()


def _arguments(kernel: Function, given: Sequence[Argument], findings: Findings) -> list[Any]:
    if len(given) != len(kernel.parameters):
        raise Undecided(f"unsupported: {kernel.name} takes {len(kernel.parameters)} arguments and gets {len(given)}")
    for (name, _), value in zip(kernel.parameters, given, strict=True):
        _check_assumptions(kernel, name, value, findings)
    return [_argument(kind, value) for (_, kind), value in zip(kernel.parameters, given, strict=True)]


def _argument(kind: Type, value: Argument) -> Array | Descriptor:
    if isinstance(value, Descriptor):
        return value
    if kind.element.startswith(("f", "bf")):
        return rounded(np.array([value], np.float64), kind.element)
    return np.array([int(value) & (1 << 64) - 1], np.uint64).astype(kept(kind.element))


def _check_assumptions(kernel: Function, name: str, value: Argument, findings: Findings) -> None:
    """The compiler was promised that an argument is a multiple of a number."""
    promised = kernel.hints.get(name, {}).get("tt.divisibility")
    if promised is None or not isinstance(value, int):
        return
    by = integers(promised)[0]
    if by > 0 and value % by:
        text = f"{name.lstrip('%')} was compiled as a multiple of {by}, and is {value:#x}"
        line = kernel.body[0].operations[0].line
        findings.add(Kind.ASSUMPTION, line, 1, lambda: Finding(kind=Kind.ASSUMPTION, message=text, line=line))


def _open(kernel: Function, given: Sequence[Argument], memory: Memory) -> None:
    """A launch begins without traces of earlier ones. Only buffers that may be written are tracked."""
    targets = written(kernel)
    reached = {
        id(memory.at(_address(value)))
        for (name, _), value in zip(kernel.parameters, given, strict=True)
        if name in targets
    }
    for buffer in memory.buffers:
        buffer.shadow = Shadow(tracked=id(buffer) in reached)


def _address(value: Argument) -> int:
    return int(value.base[0]) if isinstance(value, Descriptor) else int(value)


def _clocks(launch: Launch) -> Clocks | None:
    """Programs that look at the results of atomics may wait for each other, so they run one at a time."""
    every = [
        operation
        for function in launch.module.functions.values()
        for block in function.body
        for operation in operations(block)
    ]
    waits = any(one.name == "tt.atomic_cas" or (one.name == "tt.atomic_rmw" and one.used) for one in every)
    if not waits:
        return None
    if prod(launch.grid) > _MOST_ORDERED:
        raise Undecided(f"too long: {prod(launch.grid)} programs that synchronise through atomics")
    return Clocks(prod(launch.grid))


def _size(kernel: Function) -> int:
    """As many programs as keep the largest tile of a batch in the cache."""
    every = [operation for block in kernel.body for operation in operations(block)]
    largest = max((kind.elements for one in every for kind in (*one.taken, *one.given)), default=1)
    return max(1, min(_MOST_IN_A_BATCH, _LANES // largest))


def _batches(launch: Launch, size: int) -> list[Array]:
    chosen = range(prod(launch.grid)) if launch.programs is None else launch.programs
    numbers = np.array(chosen, np.int64)
    if launch.reverse:
        numbers = numbers[::-1]
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]
