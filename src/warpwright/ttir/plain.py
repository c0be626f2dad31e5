"""Buffers and arguments from plain bytes, for rooms without numpy."""

from __future__ import annotations

import numpy as np

from warpwright.core.errors import Undecided
from warpwright.ttir.memory.allocations import Buffer, buffer
from warpwright.ttir.numbers import from_memory, stored
from warpwright.ttir.syntax.tree import Module
from warpwright.ttir.syntax.types import Type

_GARBAGE = 0xFF
"""What new memory holds: NaN as a float, and far out as an index."""


def given(name: str, base: int, content: bytes, width: int) -> Buffer:
    """A buffer of elements of `width` bytes with a content."""
    return buffer(name, base, _elements(np.frombuffer(content, np.uint8), width))


def fresh(name: str, base: int, size: int, width: int) -> Buffer:
    """New memory, which nothing has written yet."""
    return buffer(name, base, _elements(np.full(size, _GARBAGE, np.uint8), width), written=False)


def _elements(content: np.ndarray, width: int) -> np.ndarray:
    return content.view(f"u{width}") if content.size % width == 0 else content


def put(target: Buffer, offset: int, content: bytes) -> None:
    """Write bytes from outside of a launch."""
    target.bytes()[offset : offset + len(content)] = np.frombuffer(content, np.uint8)
    if target.written is not None:
        lead = target.base % 16
        first, last = (lead + offset) // target.granule, -(-(lead + offset + len(content)) // target.granule)
        target.written[first:last] = True


def unwritten(target: Buffer, offset: int, shape: tuple[int, ...], stride: tuple[int, ...], width: int) -> list[int]:
    """The offsets in bytes of elements of a window that were never written."""
    if target.written is None or 0 in shape:
        return []
    at = np.zeros(1, np.int64)
    for extent, step in zip(shape, stride, strict=True):
        at = (at[:, None] + np.arange(extent) * step).reshape(-1)
    places = offset + at * width
    return [int(place) for place in places[~target.written[(target.base % 16 + places) // target.granule]]]


def argument(kind: Type, data: bytes) -> int | float | bool:
    """The value of a kernel's parameter, from the bytes that a launch passes."""
    if kind.element == "ptr":
        return int.from_bytes(data, "little")
    bits = stored(kind.element)
    if len(data) != bits.itemsize:
        raise Undecided(f"unsupported: a parameter of type {kind.element} in {len(data)} bytes")
    return from_memory(np.frombuffer(data, bits), kind.element)[0].item()


def parameters(module: Module) -> list[Type]:
    return [kind for _, kind in module.entry().parameters]


def tile_sizes(module: Module) -> list[int]:
    """The extents of the ranges that a kernel's tiles consist of: the sizes by which it divides its work."""
    from warpwright.ttir.writing import operations

    every = [one for block in module.entry().body for one in operations(block)]
    return sorted({one.number("end") - one.number("start") for one in every if one.name == "tt.make_range"})
