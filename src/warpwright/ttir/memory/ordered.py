"""Shadow for launches whose programs synchronise: they run one at a time, and every access is checked at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from warpwright.ttir.memory.clocks import Clocks
from warpwright.ttir.memory.shadow import NONE, Race
from warpwright.ttir.numbers import Array
from warpwright.ttir.syntax.locations import Line

_CONFLICTS = {"reads": ("writes", "updates"), "writes": ("writes", "reads", "updates"), "updates": ("writes", "reads")}
_WORDS = {"reads": "reads", "writes": "writes", "updates": "atomically updates"}


@dataclass(slots=True)
class Latest:
    """The latest access of one kind to each granule: program, its step, line."""

    program: Array
    step: Array
    line: Array

    @classmethod
    def empty(cls, granules: int) -> Latest:
        return cls(*(np.full(granules, NONE) for _ in range(3)))


@dataclass(slots=True)
class Ordered:
    clocks: Clocks
    kinds: dict[str, Latest] = field(default_factory=dict)
    lines: list[Line | None] = field(default_factory=list)

    def access(self, kind: str, where: Array, program: int, line: Line | None, granules: int) -> Iterator[Race]:
        """Note an access, and find those of other programs that it is not ordered with."""
        for other in _CONFLICTS[kind]:
            known = self.kinds.get(other)
            if known is not None:
                yield from self._conflict(known, other, kind, where, program, line)
        latest = self.kinds.setdefault(kind, Latest.empty(granules))
        if line not in self.lines:
            self.lines.append(line)
        latest.program[where], latest.step[where] = program, self.clocks.step(program)
        latest.line[where] = self.lines.index(line)

    def _conflict(
        self, known: Latest, other: str, kind: str, where: Array, program: int, line: Line | None
    ) -> Iterator[Race]:
        theirs = known.program[where]
        foreign = (theirs != NONE) & (theirs != program)
        if not foreign.any():
            return
        where, theirs = where[foreign], theirs[foreign]
        loose = where[~self.clocks.ordered(program, theirs, known.step[where])]
        if loose.size:
            yield self._race(known, other, kind, int(loose[0]), program, line, loose.size)

    def _race(self, known: Latest, other: str, kind: str, at: int, program: int, line: Line | None, count: int) -> Race:
        theirs, their_line = int(known.program[at]), self.lines[known.line[at]]
        if kind == "reads":
            return Race(at, theirs, program, their_line, line, _WORDS[kind], count)
        return Race(at, program, theirs, line, their_line, _WORDS[other], count)
