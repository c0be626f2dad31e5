"""Runs a kernel on all its cases, in both orders of programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from triton_bugs import compiling
from warpwright.core.errors import Undecided
from warpwright.ttir.memory.allocations import Buffer, Memory, buffer, extent
from warpwright.ttir.running import Launch, run

_FIRST, _APART = 0x7F00_0000_0000, 0x10_0000_0000


@dataclass(frozen=True, kw_only=True)
class Call:
    """One launch: arguments by name, and what its outputs should hold."""

    grid: tuple[int, int, int]
    arguments: Mapping[str, Any]
    expected: Mapping[str, np.ndarray]
    tolerance: float = 1e-4
    fresh: tuple[str, ...] = ()
    """Outputs that hold nothing before the launch."""
    huge: Mapping[str, int] = field(default_factory=dict)
    """Sizes of tensors that are too large to be kept."""


def problems(text: str, name: str, calls: list[Call], folder: Path) -> list[str]:
    """What is wrong with a kernel; empty if nothing is."""
    try:
        function = compiling.kernel(text, name, folder)
        return [problem for call in calls for order in (False, True) for problem in _problems(function, call, order)]
    except Undecided as reason:
        return [f"undecided: {reason}"]


def _problems(function: Any, call: Call, reverse: bool) -> list[str]:
    module, names = compiling.module(function, call.arguments)
    buffers = {name: made for name, made in zip(call.arguments, _buffers(call), strict=True) if made is not None}
    arguments = [buffers[name].base if name in buffers else call.arguments[name] for name in names]
    launch = Launch(module=module, grid=call.grid, arguments=arguments, reverse=reverse)
    found = [finding.sentence() for finding in run(launch, Memory(buffers.values())) if finding.kind.refutes]
    for name, right in call.expected.items():
        found += _differences(name, buffers[name], right, call.tolerance)
    return found


def _buffers(call: Call) -> list[Buffer | None]:
    made: list[Buffer | None] = []
    for number, (name, value) in enumerate(call.arguments.items()):
        base = _FIRST + number * _APART
        if name in call.huge:
            made.append(extent(name, base, call.huge[name], value.dtype.itemsize))
        else:
            array = isinstance(value, np.ndarray)
            made.append(buffer(name, base, value, written=name not in call.fresh) if array else None)
    return made


def _differences(name: str, held: Buffer, right: np.ndarray, tolerance: float) -> list[str]:
    if held.unwritten():
        return [f"{name} has {held.unwritten()} elements that are never written"]
    got = held.bytes().view(right.dtype if right.dtype != np.float64 else np.float32).reshape(right.shape)
    error = np.abs(got.astype(np.float64) - right.astype(np.float64))
    good = error <= tolerance * np.maximum(np.abs(right.astype(np.float64)), 1.0)
    return [] if good.all() else [f"{name} is wrong in {int((~good).sum())} elements"]
