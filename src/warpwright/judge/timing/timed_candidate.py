"""A candidate, timed in its own process.

Every timed call has its own slot in the arena, refilled before each block. Every timed output is checked, and so are
the inputs and the memory around them.
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

from warpwright.core.launch.plan import Launch, Library, Node
from warpwright.core.records.evidence import Counterexample
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Draw, Task
from warpwright.judge.checks.examine import CALL_S, StagedCandidate
from warpwright.judge.checks.quick_check import Allowance, allowances, matches_reference, reference_results
from warpwright.judge.processes.staged_call import (
    StagedCall,
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
from warpwright.oracle.compare.pieces import check_draw
from warpwright.oracle.truth.expected import Expected, Scenario, permuted_inputs

SPIN_US, FEWEST_SPUN, MOST_SPUN = 8000.0, 1, 32
SPIN_KEY, LIBRARY_KEY = 998, 999


class WrongWhileTimed(Exception):
    """A timed call gave a wrong result."""

    def __init__(self, found: Counterexample) -> None:
        self.counterexample = found
        super().__init__(found.message)


class TimedCandidate:
    """The candidate in its process, with calls ready to be timed."""

    def __init__(
        self, name: str, task: Task, staged: StagedCandidate, given: Scenario, generator: random.Random
    ) -> None:
        self.name = name
        self._task, self._staged, self._first, self._generator = task, staged, given, generator
        self._staged_calls: list[StagedCall] = list(staged.calls)
        self._case = self._staged_calls[0].draw.case
        self._given: dict[int, Scenario] = {}
        self.active = range(min(len(self._staged_calls), PLAIN_SLOTS))
        self._calls: dict[int, list[int]] = {}
        """Positions of the calls, by the key of the graph that holds several."""
        self._like: tuple[Allowance, ...] | None = None
        self.chained: set[Cache] | None = None
        """The cache states whose chains have been captured; None while every call is timed by itself."""
        self.latest_us = math.inf
        self.refill()  # the calls that follow run, and a call may use its inputs as indices
        answer = self._ask("peak_memory", slots=self._staged_calls[0].slots)
        self.peak_bytes: int | None = int(answer["peak_bytes"])
        self.refill()  # capturing runs the calls, and a call may use its inputs as indices
        for key in self.active:
            self._prepare(key)

    @cached_property
    def cost(self) -> float:
        """The cost of timing nothing, measured only when something is to be timed and the GPU is otherwise idle."""
        return statistics.median(self.samples([None] * 16, Cache.COLD))

    def is_short(self) -> bool:
        return min(self.half_block()) < SHORT_US

    def block(self, cache: Cache) -> list[float]:
        return self._timed_block(self._keys(cache), cache)

    def chain(self) -> None:
        first = len(self.active)
        self.active = range(len(self._staged_calls) // CHAINS * CHAINS)  # all chains have the same length
        self.refill()
        for key in self.active[first:]:
            self._prepare(key)
        self.chained = set()

    def half_block(self) -> list[float]:
        """Times half of the calls, at least one, and checks that the memory of all others is untouched."""
        keys = self._keys(Cache.COLD)
        keys = keys[: max(len(keys) // 2, 1)]
        samples, called = self._timed_block(keys, Cache.COLD), self._called(keys)
        others = [self._staged_calls[position] for position in self.active if position not in called]
        if others and not bool(torch.stack([untouched(call, self._staged.arena) for call in others]).all()):
            found = counterexample(others[0], "out of bounds", "a timed call wrote to the memory of another")
            raise WrongWhileTimed(found)
        return samples

    def _timed_block(self, keys: Sequence[int], cache: Cache) -> list[float]:
        """Times the calls on fresh inputs and checks their results."""
        self.refill()
        samples = self._samples_per_call(keys, cache)
        self.latest_us = statistics.median(samples)
        self.check(self._called(keys))
        return samples

    def _called(self, keys: Sequence[int]) -> list[int]:
        return sorted({position for key in keys for position in self._calls.get(key, [key])})

    def alone(self, calls: int) -> list[float]:
        """Times single calls while no other call has inputs."""
        return [self._one_alone(key) for key in self._generator.sample(self.active, min(calls, len(self.active)))]

    def _one_alone(self, key: int) -> float:
        self.refill([key])
        (sample,) = self.samples([key], Cache.COLD)
        self.check([key])
        return sample - self.cost

    @property
    def has_kernels(self) -> bool:
        """Whether a call launches kernels of the candidate's own."""
        return any(isinstance(node, Launch) for node in self._nodes())

    def _nodes(self) -> list[Node]:
        entries = [entry for entry in self._staged_calls[0].entries if entry.step.is_timed]
        return [node for entry in entries for node in entry.plan.nodes]

    def library_share(self) -> float:
        """The share of a call's time that torch's own kernels take."""
        if not any(isinstance(node, Library) for node in self._nodes()):
            return 0.0
        if not self.has_kernels:
            return 1.0
        self.refill()
        self._ask("library_part", key=LIBRARY_KEY, of=0, slots=self._staged_calls[0].slots)
        whole, part = (statistics.median(self.samples([key] * 5, Cache.COLD)) for key in (0, LIBRARY_KEY))
        return min(max((part - self.cost) / max(whole - self.cost, 1e-3), 0.0), 1.0)

    def slope_us(self) -> float | None:
        """Microseconds per call by the wall clock: the difference between 2n and n calls, with n just large enough to
        measure. None without kernels of the candidate's own, which alone could work outside the timed window.
        """
        if not self.has_kernels:
            return None
        enough = min(max(math.ceil(SPIN_US / self.latest_us), FEWEST_SPUN), MOST_SPUN)
        calls = list(islice(cycle(self.active), enough))
        self._ask("chain", key=SPIN_KEY, calls=calls)
        self._replay_seconds(1)
        short, long = (min(self._replay_seconds(repeats) for _ in range(2)) for repeats in (1, 2))
        return (long - short) / len(calls) * 1e6

    def _replay_seconds(self, repeats: int) -> float:
        start = time.perf_counter()
        self._ask("replay_all", keys=[SPIN_KEY] * repeats)
        return time.perf_counter() - start

    def _prepare(self, key: int) -> None:
        call = self._staged_calls[key]
        reads = [[place.offset, place.size] for place, _ in call.inputs]
        self._ask("prepare", key=key, slots=call.slots, reads=reads)

    def _chain(self, cache: Cache) -> None:
        """Captures chains of calls in random order: no call runs twice between refills or can predict the next one."""
        order = self._generator.sample(self.active, len(self.active))
        for number in range(CHAINS):
            for key, work in chain_keys(number, cache).items():
                self._calls[key] = order[number::CHAINS]
                self._ask("chain", key=key, calls=self._calls[key], warm=cache is Cache.WARM, work=work)
        assert self.chained is not None
        self.chained.add(cache)

    def _keys(self, cache: Cache) -> list[int]:
        """The graph keys of one block, which holds every call once."""
        if self.chained is None:
            return self._generator.sample(self.active, len(self.active))
        if cache not in self.chained:
            self._chain(cache)
        return [key for number in range(CHAINS) for key in chain_keys(number, cache)]

    def _samples_per_call(self, keys: Sequence[int | None], cache: Cache) -> list[float]:
        if self.chained is None:
            return [max(sample - self.cost, 1e-3) for sample in self.samples(keys, cache)]
        return per_call_us(self.samples(keys, Cache.COLD), cache, self.cost, len(self.active) // CHAINS)

    def samples(self, keys: Sequence[int | None], cache: Cache, restore: bool = True) -> list[float]:
        answer = self._ask("time", keys=list(keys), cache=cache.value, restore=restore)
        return [float(sample) for sample in answer["samples_us"]]

    def _ask(self, do: str, **arguments: object) -> dict[str, Any]:
        return self._staged.process.ask(do, CALL_S, **arguments)

    def refill(self, positions: Sequence[int] | None = None) -> None:
        """Writes fresh inputs, poisons the memory of results and fills all red zones."""
        filled = self.active if positions is None else positions
        self._pattern = self._generator.randrange(1, 255)
        self._staged.arena.reset(self._staged.red_zones, self._pattern)
        for position in filled:
            draw = Draw(case=self._case, seed=self._generator.randrange(2**48))
            self._given.pop(position, None)
            given = self._given[position] = permuted_inputs(self._task, draw, self._first)
            self._staged_calls[position] = refreshed(self._staged_calls[position], draw, given)
            write_inputs(self._staged_calls[position], self._staged.arena)
        torch.cuda.synchronize()
        if preparing := [slot for position in filled for slot in self._staged_calls[position].preparing]:
            self._ask("run", slots=preparing)

    def check(self, called: Sequence[int]) -> None:
        """Checks the results of the given calls, their inputs and the memory around them.

        The first time, one randomly drawn call gets the full check, which shows how far honest results may deviate. The
        others get the quick check, and the full check where that fails.
        """
        if self._staged.arena.damaged_anywhere(self._staged.red_zones, self._pattern):
            found = counterexample(self._staged_calls[0], "out of bounds", "a timed call wrote outside its buffers")
            raise WrongWhileTimed(found)
        if self._like is None:
            self._like = allowances(self._check_fully(self._generator.choice(called)))
        fine = torch.stack([self._matches(position, self._like) for position in called]).tolist()
        for position in (position for position, looks_right in zip(called, fine, strict=True) if not looks_right):
            self._check_fully(position)

    def _matches(self, position: int, like: tuple[Allowance, ...]) -> torch.Tensor:
        call, given = self._staged_calls[position], self._given[position]
        wanted = reference_results(self._task, call.draw, given)
        results = read_results(call, self._staged.arena)
        return matches_reference(like, wanted, results) & unchanged(call, self._staged.arena)

    def _check_fully(self, position: int) -> tuple[Expected, ...]:
        """Compares one call with the expected values in full."""
        call = self._staged_calls[position]
        if changed := changed_inputs(call, self._staged.arena):
            found = counterexample(call, "mutation", f"argument {changed[0]} was changed by a timed call")
            raise WrongWhileTimed(found)
        results = read_results(call, self._staged.arena)
        expected, mismatch = check_draw(self._task, call.draw, self._given[position], results)
        if mismatch:
            raise WrongWhileTimed(counterexample(call, mismatch.kind, mismatch.message, mismatch.facts))
        return expected


class TimedCompetitor(TimedCandidate):
    """Another candidate, timed beside the one that is judged. Its failures do not count against that one."""

    def block(self, cache: Cache) -> list[float]:
        try:
            return super().block(cache)
        except (WorkerFailure, WrongWhileTimed) as failure:
            raise DroppedOut(str(failure)) from None

    def slope_us(self) -> None:
        """Returns None: the clocks were compared when this candidate was judged itself."""
