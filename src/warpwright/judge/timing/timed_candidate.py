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
from functools import cached_property
from itertools import cycle, islice
from typing import Any

import torch

from warpwright.core.launch.plan import Launch, Library
from warpwright.core.launch.sealed import PREPARE
from warpwright.core.records.evidence import Counterexample
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Draw, Task
from warpwright.judge.checks.examine import CALL_S, StagedCandidate
from warpwright.judge.checks.quick_check import Allowance, allowances, matches_reference, reference_results
from warpwright.judge.processes.staged_call import (
    Visit,
    changed_inputs,
    counterexample,
    read_results,
    refreshed,
    unchanged,
    untouched,
    write_inputs,
)
from warpwright.judge.processes.workers import WorkerFailure
from warpwright.judge.timing.interleaving import CHAINS, PLAIN_SLOTS, SHORT_US, DroppedOut, chain_keys, per_call_us
from warpwright.oracle.compare.results import check_in_steps
from warpwright.oracle.truth.expected import Expected, Scenario, expectations, permuted_inputs

SPIN_US, FEWEST_SPUN, MOST_SPUN = 8000.0, 1, 32
SPIN_KEY, LIBRARY_KEY = 998, 999


class WrongWhileTimed(Exception):
    """A timed call whose output was not right."""

    def __init__(self, found: Counterexample) -> None:
        self.counterexample = found
        super().__init__(found.message)


class TimedCandidate:
    """The candidate in its cell."""

    def __init__(
        self, name: str, task: Task, staged: StagedCandidate, given: Scenario, generator: random.Random
    ) -> None:
        self.name = name
        self._task, self._staged, self._first, self._generator = task, staged, given, generator
        self._visits: list[Visit] = list(staged.visits)
        self._case = self._visits[0].draw.case
        self._given: dict[int, Scenario] = {}
        self.active = range(min(len(self._visits), PLAIN_SLOTS))
        self._calls: dict[int, list[int]] = {}
        """Of the keys that stand for several."""
        self._like: tuple[Allowance, ...] | None = None
        self.chained: set[Cache] | None = None
        """Which chains there are; None where every call is timed by itself."""
        self.latest_us = math.inf
        self.refill()  # capturing runs the calls, and a call may follow indices
        for key in self.active:
            self._prepare(key)

    @cached_property
    def cost(self) -> float:
        """Of timing nothing. Not measured before something is to be timed, when all else is quiet."""
        return statistics.median(self.samples([None] * 16, Cache.COLD))

    def is_short(self) -> bool:
        return min(self.some()) < SHORT_US

    def block(self, cache: Cache) -> list[float]:
        return self._made(self._keys(cache), cache)

    def chain(self) -> None:
        first = len(self.active)
        self.active = range(len(self._visits) // CHAINS * CHAINS)  # all chains are of one length
        self.refill()
        for key in self.active[first:]:
            self._prepare(key)
        self.chained = set()

    def some(self) -> list[float]:
        """Half a block: nothing may have happened to the calls that it did not come to."""
        keys = self._keys(Cache.COLD)
        keys = keys[: len(keys) // 2]
        samples, called = self._made(keys, Cache.COLD), self._called(keys)
        others = [self._visits[position] for position in self.active if position not in called]
        if not bool(torch.stack([untouched(visit, self._staged.arena) for visit in others]).all()):
            found = counterexample(others[0], "out of bounds", "a timed call wrote to the memory of another")
            raise WrongWhileTimed(found)
        return samples

    def _made(self, keys: Sequence[int], cache: Cache) -> list[float]:
        """Their calls on new contents, timed and checked."""
        self.refill()
        samples = self._taken(keys, cache)
        self.latest_us = statistics.median(samples)
        self.check(self._called(keys))
        return samples

    def _called(self, keys: Sequence[int]) -> list[int]:
        return sorted({position for key in keys for position in self._calls.get(key, [key])})

    def alone(self, calls: int) -> list[float]:
        """Of single calls, each while no other has anything to work on."""
        return [self._one_alone(key) for key in self._generator.sample(self.active, min(calls, len(self.active)))]

    def _one_alone(self, key: int) -> float:
        self.refill([key])
        (sample,) = self.samples([key], Cache.COLD)
        self.check([key])
        return sample - self.cost

    def library_share(self) -> float:
        """What part of a call's time torch's own kernels take."""
        nodes = [node for act in self._visits[0].acts if act.plan.entry != PREPARE for node in act.plan.nodes]
        if not any(isinstance(node, Library) for node in nodes):
            return 0.0
        if not any(isinstance(node, Launch) for node in nodes):
            return 1.0
        self.refill()
        self._ask("library_part", key=LIBRARY_KEY, of=0, slots=self._visits[0].slots)
        whole, part = (statistics.median(self.samples([key] * 5, Cache.COLD)) for key in (0, LIBRARY_KEY))
        return min(max((part - self.cost) / max(whole - self.cost, 1e-3), 0.0), 1.0)

    def slope_us(self) -> float | None:
        """What 2n calls take longer than n: so many that our own clock can tell, no more."""
        enough = min(max(math.ceil(SPIN_US / self.latest_us), FEWEST_SPUN), MOST_SPUN)
        calls = list(islice(cycle(self.active), enough))
        self._ask("chain", key=SPIN_KEY, calls=calls)
        self._spun(1)
        short, long = (min(self._spun(repeats) for _ in range(2)) for repeats in (1, 2))
        return (long - short) / len(calls) * 1e6

    def _spun(self, repeats: int) -> float:
        start = time.perf_counter()
        self._ask("replay_all", keys=[SPIN_KEY] * repeats)
        return time.perf_counter() - start

    def _prepare(self, key: int) -> None:
        visit = self._visits[key]
        reads = [[place.offset, place.size] for place, _ in visit.inputs]
        self._ask("prepare", key=key, slots=visit.slots, reads=reads)

    def _chain(self, cache: Cache) -> None:
        """Chains of different calls: none of them is made twice between two refills, and no call knows the next."""
        order = self._generator.sample(self.active, len(self.active))
        for number in range(CHAINS):
            for key, work in chain_keys(number, cache).items():
                self._calls[key] = order[number::CHAINS]
                self._ask("chain", key=key, calls=self._calls[key], warm=cache is Cache.WARM, work=work)
        assert self.chained is not None
        self.chained.add(cache)

    def _keys(self, cache: Cache) -> list[int]:
        """What is replayed in one block: every call once."""
        if self.chained is None:
            return self._generator.sample(self.active, len(self.active))
        if cache not in self.chained:
            self._chain(cache)
        return [key for number in range(CHAINS) for key in chain_keys(number, cache)]

    def _taken(self, keys: Sequence[int | None], cache: Cache) -> list[float]:
        if self.chained is None:
            return [max(sample - self.cost, 1e-3) for sample in self.samples(keys, cache)]
        return per_call_us(self.samples(keys, Cache.COLD), cache, self.cost, len(self.active) // CHAINS)

    def samples(self, keys: Sequence[int | None], cache: Cache, restore: bool = True) -> list[float]:
        answer = self._ask("time", keys=list(keys), cache=cache.value, restore=restore)
        return [float(sample) for sample in answer["samples_us"]]

    def _ask(self, do: str, **arguments: object) -> dict[str, Any]:
        return self._staged.cell.ask(do, CALL_S, **arguments)

    def refill(self, positions: Sequence[int] | None = None) -> None:
        """Contents that nobody has seen, poison where results will be, and red zones around everything."""
        filled = self.active if positions is None else positions
        self._pattern = self._generator.randrange(1, 255)
        self._staged.arena.reset(self._staged.red_zones, self._pattern)
        for position in filled:
            draw = Draw(case=self._case, seed=self._generator.randrange(2**48))
            given = self._given[position] = permuted_inputs(self._task, draw, self._first)
            self._visits[position] = refreshed(self._task, self._visits[position], draw, given)
            write_inputs(self._visits[position], self._staged.arena)
        torch.cuda.synchronize()
        if preparing := [slot for position in filled for slot in self._visits[position].preparing]:
            self._ask("run", slots=preparing)

    def check(self, called: Sequence[int]) -> None:
        """Every one of these calls: its results, its inputs, and the memory around them.

        The first time one of the calls, drawn by lot, is held against the full truth, which tells how far off honest
        results may be. The others are held against the reference, and against the full truth where that looks wrong.
        """
        if self._staged.arena.damaged_anywhere(self._staged.red_zones, self._pattern):
            found = counterexample(self._visits[0], "out of bounds", "a timed call wrote outside its buffers")
            raise WrongWhileTimed(found)
        if self._like is None:
            self._like = allowances(self._hold(self._generator.choice(called)))
        fine = torch.stack([self._resembles(position, self._like) for position in called]).tolist()
        for position in (position for position, looks_right in zip(called, fine, strict=True) if not looks_right):
            self._hold(position)

    def _resembles(self, position: int, like: tuple[Allowance, ...]) -> torch.Tensor:
        visit, given = self._visits[position], self._given[position]
        wanted = reference_results(self._task, visit.draw, given)
        results = read_results(self._task, visit, self._staged.arena)
        return matches_reference(like, wanted, results) & unchanged(visit, self._staged.arena)

    def _hold(self, position: int) -> tuple[Expected, ...]:
        """Against the full truth."""
        visit = self._visits[position]
        if changed := changed_inputs(visit, self._staged.arena):
            found = counterexample(visit, "mutation", f"argument {changed[0]} was changed by a timed call")
            raise WrongWhileTimed(found)
        results = read_results(self._task, visit, self._staged.arena)
        expected, mismatch = check_in_steps(
            lambda runs: expectations(self._task, visit.draw, self._given[position], runs), results
        )
        if mismatch:
            raise WrongWhileTimed(counterexample(visit, mismatch.kind, mismatch.message, mismatch.facts))
        return expected


class TimedCompetitor(TimedCandidate):
    """Another candidate beside the one that is judged. Whatever befalls it is no word on that one."""

    def block(self, cache: Cache) -> list[float]:
        try:
            return super().block(cache)
        except (WorkerFailure, WrongWhileTimed) as failure:
            raise DroppedOut(str(failure)) from None

    def slope_us(self) -> None:
        """None: its own job has compared the clocks."""
