"""Candidates in their cells, timed.

Every timed call has a slot of its own in the arena, filled anew before each block; every timed output is checked, and
so are the inputs and the memory around them.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import torch

from warpwright.core.evidence import Counterexample
from warpwright.core.measurement import Cache
from warpwright.core.plan import Launch, Library
from warpwright.core.sealed import PREPARE
from warpwright.core.task import Draw, Task
from warpwright.judge.cells import CellFailure
from warpwright.judge.examine import CALL_S, Staged
from warpwright.judge.likeness import Likeness, likeness, reference_results, resemble
from warpwright.judge.timing import CHAINS, PLAIN_SLOTS, SHORT_US, RivalLost, chain_parts, chained
from warpwright.judge.visit import (
    Visit,
    changed_inputs,
    counterexample,
    read_results,
    refreshed,
    unchanged,
    write_inputs,
)
from warpwright.oracle.check import check_in_steps
from warpwright.oracle.truth import Expected, Scenario, expectations, rolled

REMEMBERED, REMEMBERED_US = 0.8, 1.0
AHEAD, AHEAD_IN_CHAINS, AHEAD_US = 0.85, 0.7, 2.0
"""How much faster a call may be among others than alone. A chain hides its start behind the end of the one before."""
ALONE = 5
SPIN_US, FEWEST_SPUN, MOST_SPUN = 8000.0, 1, 32
DOUBT_US, FEWEST_DOUBTED = 10_000.0, 3
SPIN_KEY, LIBRARY_KEY = 998, 999


class WrongWhileTimed(Exception):
    """A timed call whose output was not right."""

    def __init__(self, found: Counterexample) -> None:
        self.counterexample = found
        super().__init__(found.message)


class Contestant:
    """The candidate in its cell."""

    def __init__(self, name: str, task: Task, on: Staged, given: Scenario, generator: random.Random) -> None:
        self.name = name
        self._task, self._on, self._first, self._generator = task, on, given, generator
        self._visits: list[Visit] = list(on.visits)
        self._case = self._visits[0].draw.case
        self._given: dict[int, Scenario] = {}
        self._active = range(min(len(self._visits), PLAIN_SLOTS))
        self._like: tuple[Likeness, ...] | None = None
        self._chained: set[Cache] | None = None
        self._latest_us = math.inf
        self._refill()  # capturing runs the calls, and a call may follow indices
        for key in self._active:
            self._prepare(key)
        self._cost = statistics.median(self._samples([None] * 16, Cache.COLD))

    def is_short(self) -> bool:
        return min(self.block(Cache.COLD)) < SHORT_US

    def block(self, cache: Cache) -> list[float]:
        keys = self._keys(cache)
        self._refill()
        samples = self._taken(keys, cache)
        self._latest_us = statistics.median(samples)
        self._check()
        return samples

    def chain(self) -> None:
        first = len(self._active)
        self._active = range(len(self._visits) // CHAINS * CHAINS)  # all chains are of one length
        self._refill()
        for key in self._active[first:]:
            self._prepare(key)
        self._chained = set()

    def doubt(self) -> str | None:
        """Why its time would be none: a call kept notes of one on the same contents, or did the work of the next."""
        self._refill()
        keys = self._active[: max(math.ceil(DOUBT_US / self._latest_us), FEWEST_DOUBTED)]
        first = statistics.median(self._samples(keys, Cache.COLD)) - self._cost
        twice = self._samples([key for key in keys for _ in range(2)], Cache.COLD, restore=False)
        again = statistics.median(twice[1::2]) - self._cost
        if again < REMEMBERED * first - REMEMBERED_US:
            return f"{again:.1f} µs when called again on the same contents, {first:.1f} the first time: it remembers"
        alone, together = self._alone(), statistics.median(self.block(Cache.COLD))
        if together < (AHEAD if self._chained is None else AHEAD_IN_CHAINS) * alone - AHEAD_US:
            return f"{together:.1f} µs a call among others, {alone:.1f} alone: a call does the work of others"
        return None

    def _alone(self) -> float:
        """Time of a call while no other has anything to work on."""
        samples = []
        for key in self._generator.sample(self._active, min(ALONE, len(self._active))):
            self._refill([key])
            samples += self._samples([key], Cache.COLD)
            self._check([key])
        return statistics.median(samples) - self._cost

    def library_share(self) -> float:
        """What part of a call's time torch's own kernels take."""
        nodes = [node for act in self._visits[0].acts if act.plan.entry != PREPARE for node in act.plan.nodes]
        if not any(isinstance(node, Library) for node in nodes):
            return 0.0
        if not any(isinstance(node, Launch) for node in nodes):
            return 1.0
        self._refill()
        self._ask("library_part", key=LIBRARY_KEY, of=0, slots=self._visits[0].slots)
        whole, part = (statistics.median(self._samples([key] * 5, Cache.COLD)) for key in (0, LIBRARY_KEY))
        return min(max((part - self._cost) / max(whole - self._cost, 1e-3), 0.0), 1.0)

    def slope_us(self) -> float | None:
        """What 2n calls take longer than n: so many that our own clock can tell, no more."""
        enough = min(max(math.ceil(SPIN_US / self._latest_us), FEWEST_SPUN), MOST_SPUN)
        calls = list(islice(cycle(self._active), enough))
        self._ask("chain", key=SPIN_KEY, calls=calls)
        self._spun(1)
        short, long = (min(self._spun(repeats) for _ in range(2)) for repeats in (1, 2))
        return (long - short) / len(calls) * 1e6

    def _spun(self, repeats: int) -> float:
        start = time.perf_counter()
        self._ask("spin", keys=[SPIN_KEY] * repeats)
        return time.perf_counter() - start

    def _prepare(self, key: int) -> None:
        visit = self._visits[key]
        reads = [[place.offset, place.size] for place, _ in visit.inputs]
        self._ask("prepare", key=key, slots=visit.slots, reads=reads)

    def _chain(self, cache: Cache) -> None:
        """Chains of different calls: none of them is made twice between two refills, and no call knows the next."""
        order = self._generator.sample(self._active, len(self._active))
        for number in range(CHAINS):
            for key, work in chain_parts(number, cache).items():
                self._ask("chain", key=key, calls=order[number::CHAINS], warm=cache is Cache.WARM, work=work)
        assert self._chained is not None
        self._chained.add(cache)

    def _keys(self, cache: Cache) -> list[int]:
        """What is replayed in one block: every call once."""
        if self._chained is None:
            return self._generator.sample(self._active, len(self._active))
        if cache not in self._chained:
            self._chain(cache)
        return [key for number in range(CHAINS) for key in chain_parts(number, cache)]

    def _taken(self, keys: Sequence[int | None], cache: Cache) -> list[float]:
        if self._chained is None:
            return [max(sample - self._cost, 1e-3) for sample in self._samples(keys, cache)]
        return chained(self._samples(keys, Cache.COLD), cache, self._cost, len(self._active) // CHAINS)

    def _samples(self, keys: Sequence[int | None], cache: Cache, restore: bool = True) -> list[float]:
        answer = self._ask("time", keys=list(keys), cache=cache.value, restore=restore)
        return [float(sample) for sample in answer["samples_us"]]

    def _ask(self, do: str, **arguments: object) -> dict[str, Any]:
        return self._on.cell.ask(do, CALL_S, **arguments)

    def _refill(self, positions: Sequence[int] | None = None) -> None:
        """Contents that nobody has seen, poison where results will be, and red zones around everything."""
        filled = self._active if positions is None else positions
        self._pattern = self._generator.randrange(1, 255)
        self._on.arena.reset(self._on.red_zones, self._pattern)
        for position in filled:
            draw = Draw(case=self._case, seed=self._generator.randrange(2**48))
            given = self._given[position] = rolled(self._task, draw, self._first)
            self._visits[position] = refreshed(self._task, self._visits[position], draw, given)
            write_inputs(self._visits[position], self._on.arena)
        torch.cuda.synchronize()
        if preparing := [slot for position in filled for slot in self._visits[position].preparing]:
            self._ask("run", slots=preparing)

    def _check(self, positions: Sequence[int] | None = None) -> None:
        """Every call: its results, its inputs, and the memory around them.

        The first time one of the calls, drawn by lot, is held against the full truth, which tells how far off honest
        results may be. The others are held against the reference, and against the full truth where that looks wrong.
        """
        if self._on.arena.damaged_anywhere(self._on.red_zones, self._pattern):
            found = counterexample(self._visits[0], "out of bounds", "a timed call wrote outside its buffers")
            raise WrongWhileTimed(found)
        called = self._active if positions is None else positions
        if self._like is None:
            self._like = likeness(self._hold(self._generator.choice(called)))
        fine = torch.stack([self._resembles(position, self._like) for position in called]).tolist()
        for position in (position for position, looks_right in zip(called, fine, strict=True) if not looks_right):
            self._hold(position)

    def _resembles(self, position: int, like: tuple[Likeness, ...]) -> torch.Tensor:
        visit, given = self._visits[position], self._given[position]
        wanted = reference_results(self._task, visit.draw, given)
        results = read_results(self._task, visit, self._on.arena)
        return resemble(like, wanted, results) & unchanged(visit, self._on.arena)

    def _hold(self, position: int) -> tuple[Expected, ...]:
        """Against the full truth."""
        visit = self._visits[position]
        if changed := changed_inputs(visit, self._on.arena):
            found = counterexample(visit, "mutation", f"argument {changed[0]} was changed by a timed call")
            raise WrongWhileTimed(found)
        results = read_results(self._task, visit, self._on.arena)
        expected, mismatch = check_in_steps(
            lambda runs: expectations(self._task, visit.draw, self._given[position], runs), results
        )
        if mismatch:
            raise WrongWhileTimed(counterexample(visit, mismatch.kind, mismatch.message, mismatch.facts))
        return expected


class Opponent(Contestant):
    """Another candidate beside the one that is judged. Whatever befalls it is no word on that one."""

    def block(self, cache: Cache) -> list[float]:
        try:
            return super().block(cache)
        except (CellFailure, WrongWhileTimed) as failure:
            raise RivalLost(str(failure)) from None

    def slope_us(self) -> None:
        """None: its own job has compared the clocks."""
