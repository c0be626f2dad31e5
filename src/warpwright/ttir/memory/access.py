"""Reads and writes of a batch of programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warpwright.core.errors import Undecided
from warpwright.ttir.memory.allocations import Buffer, Memory
from warpwright.ttir.memory.clocks import Clocks
from warpwright.ttir.memory.ordered import Ordered
from warpwright.ttir.memory.reports import Reports
from warpwright.ttir.memory.shadow import NONE, Race
from warpwright.ttir.numbers import Array, from_memory, stored, to_memory
from warpwright.ttir.syntax.locations import Line


@dataclass(slots=True)
class Part:
    """The lanes of an access that lie in one buffer, as flat arrays."""

    buffer: Buffer
    lanes: Array
    """Positions among all lanes of the access."""
    index: Array
    """The element of the buffer's view that each lane is at."""
    programs: Array


class Access:
    """Memory as one launch sees it. `programs` are the numbers of the programs of the current batch."""

    def __init__(self, memory: Memory, reports: Reports, clocks: Clocks | None) -> None:
        self.memory, self.reports, self.clocks = memory, reports, clocks
        self.programs: Array = np.zeros(1, np.int32)
        self.line: Line | None = None
        self.untracked = False
        """Whether a tensor of atomics may have ordered programs in a way that no clock tells."""
        self._ordered: dict[int, Ordered] = {}

    def read(self, addresses: Array, mask: Array | None, element: str) -> Array:
        """The values at addresses; zero where the mask is off or there is nothing to read."""
        kind = stored(element)
        if mask is not None:
            addresses, mask = np.broadcast_arrays(addresses, mask)
        found = np.zeros(addresses.shape, kind)
        flat = found.reshape(-1)
        for part in self.parts(addresses, mask, kind.itemsize, "reads"):
            if part.buffer.data is not None:
                flat[part.lanes] = part.buffer.view(kind)[part.index]
                self._note_read(part, kind.itemsize, shared=addresses.shape[0] == 1)
        return from_memory(found, element)

    def write(self, addresses: Array, values: Array, mask: Array | None, element: str) -> None:
        """Every program writes for itself, also where all write the same."""
        kind = stored(element)
        shape = np.broadcast_shapes(
            addresses.shape,
            values.shape,
            *([] if mask is None else [mask.shape]),
            (len(self.programs),) + (1,) * (addresses.ndim - 1),
        )
        addresses = np.broadcast_to(addresses, shape)
        bits = np.broadcast_to(to_memory(values, element), shape).reshape(-1)
        mask = None if mask is None else np.broadcast_to(mask, shape)
        for part in self.parts(addresses, mask, kind.itemsize, "writes"):
            if part.buffer.data is not None:
                self._store(part, bits[part.lanes], kind.itemsize)

    def parts(self, addresses: Array, mask: Array | None, width: int, does: str) -> Iterator[Part]:
        """Split the lanes that are on by buffer; report those that lie in none, or across the end of one."""
        lanes = np.arange(addresses.size) if mask is None else np.flatnonzero(mask)
        if not lanes.size:
            return
        at = addresses.reshape(-1)[lanes] if mask is not None else addresses.reshape(-1)
        programs = self._programs(addresses, lanes)
        self._check_alignment(at, width, does, programs)
        while at.size:
            buffer = self.memory.at(int(at[0]))
            if buffer is None:
                inside = self._outside(at, width, does, programs)
            else:
                offsets = at - buffer.base
                inside = offsets.view(np.uint64) <= np.uint64(max(buffer.size - width, 0))
                if inside.all():
                    yield self._part(buffer, lanes, at, programs, width)
                    return
                if not inside[0]:
                    inside = self._outside(at, width, does, programs)
                else:
                    yield self._part(buffer, lanes[inside], at[inside], programs[inside], width)
            at, lanes, programs = at[~inside], lanes[~inside], programs[~inside]

    def _programs(self, addresses: Array, lanes: Array) -> Array:
        """The program of each lane; the first stands for all where a value is shared."""
        each = addresses.size // addresses.shape[0]
        return self.programs[lanes // each] if each else self.programs[:0]

    def _part(self, buffer: Buffer, lanes: Array, at: Array, programs: Array, width: int) -> Part:
        buffer.refine(width)
        return Part(buffer, lanes, (at - buffer.start) // width, programs)

    def _outside(self, at: Array, width: int, does: str, programs: Array) -> Array:
        """Report all lanes that are in no buffer; the lanes that are done with."""
        bases = np.array([one.base for one in self.memory.buffers], np.int64)
        ends = np.array([one.base + one.size for one in self.memory.buffers], np.int64)
        near = np.searchsorted(bases, at, side="right") - 1
        outside = (near < 0) | (at + width > ends[near])
        bad = np.flatnonzero(outside)
        address = int(at[bad[0]])
        self.reports.outside(self.memory.nearest(address), address, does, int(programs[bad[0]]), self.line, bad.size)
        return np.asarray(outside)

    def _check_alignment(self, at: Array, width: int, does: str, programs: Array) -> None:
        if width > 1 and int(np.bitwise_or.reduce(at)) & (width - 1):
            bad = np.flatnonzero(at & (width - 1))
            self.reports.misaligned(width, int(at[bad[0]]), does, int(programs[bad[0]]), self.line, bad.size)

    def _granules(self, part: Part, width: int) -> Array:
        """The first granule of each lane; `width` is at least the size of one."""
        return part.index * (width // part.buffer.granule)

    def _note_read(self, part: Part, width: int, *, shared: bool) -> None:
        buffer = part.buffer
        if buffer.written is None and not (buffer.shadow.tracked or self.clocks):
            return
        for step in range(width // buffer.granule):
            where = self._granules(part, width) + step
            if buffer.written is not None:
                self._check_written(part, where)
            if self.clocks is not None:
                self._in_order("reads", part, where)
            elif buffer.shadow.tracked:
                self._log_read(part, where, shared)

    def _check_written(self, part: Part, where: Array) -> None:
        assert part.buffer.written is not None
        known = part.buffer.written[where]
        if not known.all():
            bad = np.flatnonzero(~known)
            first = bad[0]
            self.reports.uninitialised(part.buffer, int(where[first]), int(part.programs[first]), self.line, bad.size)

    def _log_read(self, part: Part, where: Array, shared: bool) -> None:
        shadow, granules = part.buffer.shadow, part.buffer.granules
        shadow.read(where, part.programs, self.line, granules)
        if shared and len(self.programs) > 1:
            shadow.read(where, np.full_like(part.programs, self.programs[-1]), self.line, granules)

    def _store(self, part: Part, bits: Array, width: int) -> None:
        view = part.buffer.view(bits.dtype)
        before = view[part.index]
        view[part.index] = bits
        differs = _unlike(view[part.index], bits)
        for step in range(width // part.buffer.granule):
            where = self._granules(part, width) + step
            if self.clocks is not None:
                self._in_order("writes", part, where)
            else:
                self._race_of_writes(part, where, _unlike(before, bits), differs)
            if part.buffer.written is not None:
                part.buffer.written[where] = True
        if differs.any():
            self._clash(part, width, differs)

    def _race_of_writes(self, part: Part, where: Array, changes: Array, differs: Array) -> None:
        """Two programs that write different values to one granule, in one batch or in two."""
        touch = part.buffer.shadow.written(part.buffer.granules)
        theirs, their_line = touch.first[where], touch.line[where]
        bad = (theirs != NONE) & (theirs != part.programs) & changes
        line = part.buffer.shadow.number(self.line)
        touch.note(where, part.programs, line)
        if bad.any():
            at = int(np.argmax(bad))
            self._report_writes(
                part, where, at, int(theirs[at]), part.buffer.shadow.lines[their_line[at]], int(bad.sum())
            )
        lost = differs & (touch.second[where] != NONE)
        if lost.any():
            at = int(np.argmax(lost))
            pair = {int(touch.first[where[at]]), int(touch.second[where[at]])} - {int(part.programs[at])}
            self._report_writes(part, where, at, pair.pop(), self.line, int(lost.sum()))

    def _report_writes(self, part: Part, where: Array, at: int, other: int, line: Line | None, count: int) -> None:
        mine = int(part.programs[at])
        self.reports.race(
            part.buffer, Race(int(where[at]), mine, other, self.line, line, "writes another value to", count)
        )

    def _clash(self, part: Part, width: int, differs: Array) -> None:
        """Lanes of one program that lost to another lane of the same store."""
        where = self._granules(part, width)
        touch = part.buffer.shadow.writes
        alone = differs if touch is None else differs & (touch.second[where] == NONE)
        if alone.any():
            at = int(np.argmax(alone))
            self.reports.clash(part.buffer, int(where[at]), int(part.programs[at]), self.line, int(alone.sum()))

    def _in_order(self, kind: str, part: Part, where: Array) -> None:
        assert self.clocks is not None
        shadow = self._ordered.setdefault(part.buffer.base, Ordered(self.clocks))
        for race in shadow.access(kind, where, int(part.programs[0]), self.line, part.buffer.granules):
            if self.untracked:
                raise Undecided("unsupported: programs that synchronise through a tensor of atomics")
            self.reports.race(part.buffer, race)

    def updated(self, part: Part, width: int) -> None:
        """Note an atomic update."""
        for step in range(width // part.buffer.granule):
            where = self._granules(part, width) + step
            if part.buffer.written is not None:
                self._check_written(part, where)
            if self.clocks is not None:
                self._in_order("updates", part, where)
            else:
                part.buffer.shadow.update(where, part.programs, self.line, part.buffer.granules)

    def finish(self) -> None:
        """Report the races that are known at the end of a launch."""
        for buffer in self.memory.buffers:
            for race in buffer.shadow.races(buffer.granules):
                self.reports.race(buffer, race)


def _unlike(one: Array, other: Array) -> Array:
    """Where the bits differ."""
    whole = np.dtype(f"u{one.dtype.itemsize}")
    return np.asarray(one.view(whole) != np.ascontiguousarray(other).view(whole))
