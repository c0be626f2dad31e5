"""Buffers at fake addresses."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warpwright.ttir.memory.shadow import Shadow
from warpwright.ttir.numbers import Array

_ROUND = 16


@dataclass(slots=True)
class Buffer:
    """Bytes from `base` on. `data` starts at a round address at or below; without data only bounds are checked.

    `written` tells for each granule whether it has a value; None means that all have one. A granule is the smallest
    element that was accessed so far.
    """

    name: str
    base: int
    size: int
    granule: int
    data: Array | None
    written: Array | None = None
    shadow: Shadow = field(default_factory=Shadow)

    @property
    def start(self) -> int:
        return self.base - self.base % _ROUND

    @property
    def granules(self) -> int:
        return -(-(self.base % _ROUND + self.size) // self.granule)

    def view(self, kind: np.dtype[Any]) -> Array:
        assert self.data is not None
        return self.data.view(kind)

    def refine(self, width: int) -> None:
        """Track smaller elements from now on."""
        if width >= self.granule:
            return
        times = self.granule // width
        self.granule = width
        if self.written is not None:
            self.written = np.repeat(self.written, times)[: self.granules]
        self.shadow.refine(times, self.granules)

    def unwritten(self) -> int:
        """The number of elements that never got a value."""
        return 0 if self.written is None else int((~self.written[self._lead() :]).sum())

    def _lead(self) -> int:
        return self.base % _ROUND // self.granule

    def bytes(self) -> Array:
        """Its content, without what lies before the base."""
        assert self.data is not None
        lead = self.base % _ROUND
        return self.data[lead : lead + self.size]


def buffer(name: str, base: int, content: Array, *, written: bool = True) -> Buffer:
    """A buffer with the elements of a contiguous array. Elements that were not written have arbitrary values."""
    lead, width = base % _ROUND, content.dtype.itemsize
    data = np.zeros(-(-(lead + content.nbytes) // _ROUND) * _ROUND, np.uint8)
    data[lead : lead + content.nbytes] = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
    made = Buffer(name, base, content.nbytes, width, data)
    if not written:
        made.written = np.zeros(made.granules, np.bool_)
    return made


def extent(name: str, base: int, size: int, width: int) -> Buffer:
    """A buffer too large to be kept: its elements read as zero, and only bounds are checked."""
    return Buffer(name, base, size, width, None)


class Memory:
    """All buffers, by address."""

    def __init__(self, buffers: Iterable[Buffer]) -> None:
        self.buffers = sorted(buffers, key=lambda one: one.base)
        self._bases = [one.base for one in self.buffers]

    def at(self, address: int) -> Buffer | None:
        """The buffer that an address lies in."""
        near = bisect_right(self._bases, address) - 1
        found = self.buffers[near] if near >= 0 else None
        return found if found is not None and address < found.base + found.size else None

    def nearest(self, address: int) -> Buffer | None:
        """The buffer that an address outside of all buffers was probably meant for."""
        away = lambda one: max(one.base - address, address - one.base - one.size)  # noqa: E731
        return min(self.buffers, key=away, default=None)
