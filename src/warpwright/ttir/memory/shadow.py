"""Shadow: who read, wrote and updated each granule of a buffer during one launch.

Programs of a launch are not ordered. Two of them race if both touch a granule, one of them writes it with a plain
store, and the other does not just write the same value. Two distinct readers are remembered: of two, one is not the
writer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from warpwright.ttir.numbers import Array
from warpwright.ttir.syntax.locations import Line

_MOST_LOGGED = 1 << 22
NONE = np.int32(-1)


@dataclass(slots=True)
class Touch:
    """For each granule: two distinct programs that touched it in one way, and the line of the latest."""

    first: Array
    second: Array
    line: Array

    @classmethod
    def empty(cls, granules: int) -> Touch:
        return cls(*(np.full(granules, NONE) for _ in range(3)))

    def note(self, where: Array, programs: Array, line: int) -> None:
        free = self.first[where] == NONE
        self.first[where[free]] = programs[free]
        other = self.first[where] != programs
        self.second[where[other]] = programs[other]
        self.line[where] = line

    def refine(self, times: int, granules: int) -> None:
        for name in ("first", "second", "line"):
            setattr(self, name, np.repeat(getattr(self, name), times)[:granules])


@dataclass(frozen=True, slots=True)
class Race:
    """Two programs at one granule: the plain writer and the other one, with their lines."""

    granule: int
    writer: int
    other: int
    line: Line | None
    other_line: Line | None
    does: str
    count: int


@dataclass(slots=True)
class Shadow:
    tracked: bool = True
    """Whether anything in the launch can write the buffer; no race is possible otherwise."""
    writes: Touch | None = None
    reads: Touch | None = None
    atomics: Touch | None = None
    lines: list[Line | None] = field(default_factory=list)
    log: list[tuple[Array, Array, int]] = field(default_factory=list)
    logged: int = 0

    def number(self, line: Line | None) -> int:
        if line not in self.lines:
            self.lines.append(line)
        return self.lines.index(line)

    def read(self, where: Array, programs: Array, line: Line | None, granules: int) -> None:
        """Keep reads in a log: most launches never write what they read."""
        self.log.append((where, programs, self.number(line)))
        self.logged += where.size
        if self.logged > _MOST_LOGGED:
            self._fold(granules)

    def update(self, where: Array, programs: Array, line: Line | None, granules: int) -> None:
        self.atomics = self.atomics or Touch.empty(granules)
        self.atomics.note(where, programs, self.number(line))

    def written(self, granules: int) -> Touch:
        self.writes = self.writes or Touch.empty(granules)
        return self.writes

    def refine(self, times: int, granules: int) -> None:
        self._fold(-(-granules // times))
        for touch in (self.writes, self.reads, self.atomics):
            if touch is not None:
                touch.refine(times, granules)

    def _fold(self, granules: int) -> None:
        for where, programs, line in self.log:
            self.reads = self.reads or Touch.empty(granules)
            self.reads.note(where, programs, line)
        self.log, self.logged = [], 0

    def races(self, granules: int) -> Iterator[Race]:
        """The races between different kinds of accesses, at the end of a launch, one for each pair of lines."""
        if self.writes is None and self.atomics is None:
            self.log = []
            return
        self._fold(granules)
        for writes, others, does in (
            (self.writes, self.reads, "reads"),
            (self.writes, self.atomics, "atomically updates"),
            (self.atomics, self.reads, "reads"),
        ):
            if writes is not None and others is not None:
                yield from self._pairs(writes, others, does)

    def _pairs(self, writes: Touch, others: Touch, does: str) -> Iterator[Race]:
        """Granules where two distinct programs meet, one of them on each side."""
        both = (writes.first != NONE) & (others.first != NONE)
        apart = both & ((writes.first != others.first) | (others.second != NONE) | (writes.second != NONE))
        where = np.flatnonzero(apart)
        if not where.size:
            return
        keys = writes.line[where].astype(np.int64) << 32 | others.line[where]
        for key, count in zip(*np.unique(keys, return_counts=True), strict=True):
            at = int(where[np.argmax(keys == key)])
            yield self._race(writes, others, at, does, int(count))

    def _race(self, writes: Touch, others: Touch, at: int, does: str, count: int) -> Race:
        pairs = [(w, o) for w in (writes.first[at], writes.second[at]) for o in (others.first[at], others.second[at])]
        writer, other = next((w, o) for w, o in pairs if w != o and NONE not in (w, o))
        line, other_line = self.lines[writes.line[at]], self.lines[others.line[at]]
        return Race(at, int(writer), int(other), line, other_line, does, count)
