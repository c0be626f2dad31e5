"""The order between programs that synchronise through atomics: a vector clock for each program and each location."""

from __future__ import annotations

import numpy as np

from warpwright.ttir.numbers import Array

_ACQUIRES, _RELEASES = ("acquire", "acq_rel"), ("release", "acq_rel")


class Clocks:
    """`now[p][q]` is the last step of program q that program p is known to come after."""

    def __init__(self, programs: int) -> None:
        self.now = np.zeros((programs, programs), np.int32)
        np.fill_diagonal(self.now, 1)
        self._places: dict[int, Array] = {}

    def synchronise(self, program: int, address: int, semantics: str) -> None:
        """What an atomic operation on an address publishes and sees."""
        known = self._places.setdefault(address, np.zeros(len(self.now), np.int32))
        mine = self.now[program]
        if semantics in _ACQUIRES:
            np.maximum(mine, known, out=mine)
        if semantics in _RELEASES:
            np.maximum(known, mine, out=known)
            mine[program] += 1

    def step(self, program: int) -> int:
        return int(self.now[program, program])

    def ordered(self, program: int, others: Array, steps: Array) -> Array:
        """Whether what other programs did in these steps comes before everything that `program` does now."""
        return np.asarray(self.now[program][others] >= steps)
