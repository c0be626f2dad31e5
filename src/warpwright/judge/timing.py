"""How fast a sealed candidate is, in turns with its rivals, on inputs nobody has seen before.

Every timed call has a slot of its own in the arena, filled anew before each block; every timed output is checked.
Candidate and baselines alternate (ABBA), so that what drifts meets all of them alike. Calls too short for an event
pair are timed many to a graph, less a graph of the flushes between them.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from warpwright.core.codec import encode
from warpwright.core.evidence import Counterexample
from warpwright.core.measurement import Cache, Discard
from warpwright.core.task import Case, Draw, Task
from warpwright.judge.cells import CellFailure, Process
from warpwright.judge.examine import CALL_S, Staged
from warpwright.judge.gauge import Gauge, disturbed
from warpwright.judge.stopping import Limits, Stopping
from warpwright.judge.stopwatch import CHAIN_KEY, FLUSH_KEY, WARM_KEY, WARM_REPEATS
from warpwright.judge.truths import Truths, estimated
from warpwright.judge.visit import Visit, counterexample, read_results, refreshed, write_inputs
from warpwright.oracle.check import check_results
from warpwright.oracle.truth import Expected, expectations, scenario

SHORT_US = 10.0
_CHAIN_REPEATS = 4
_COMPILE_S = 300.0


class WrongWhileTimed(Exception):
    """A timed call whose output was not right."""

    def __init__(self, found: Counterexample) -> None:
        self.counterexample = found
        super().__init__(found.message)


class RivalLost(Exception):
    """A baseline that stopped working: it is left out, and the candidate is timed without it."""


class Subject(Protocol):
    """Something that is timed, block by block."""

    name: str

    def block(self, cache: Cache) -> list[float]: ...

    def chain(self) -> None: ...


@dataclass(slots=True, kw_only=True)
class Series:
    """Samples of one subject in the blocks they were taken in, and what was thrown away."""

    blocks: list[list[float]] = field(default_factory=list)
    discards: list[Discard] = field(default_factory=list)
    stopped_because: str = ""
    lost: str | None = None
    """Why a baseline dropped out."""


def contest(subjects: Sequence[Subject], cache: Cache, limits: Limits, gauge: Gauge) -> dict[str, Series]:
    """Lets the subjects take turns, there and back, until the first of them is known well enough."""
    series = {subject.name: Series() for subject in subjects}
    stopping, start, reason = Stopping(limits=limits), time.perf_counter(), None
    order = list(subjects)
    while reason is None:
        for subject in [item for item in order if series[item.name].lost is None]:
            samples = _turn(subject, cache, gauge, series[subject.name])
            if subject is subjects[0]:
                for sample in samples:
                    stopping.feed(sample)
        order.reverse()
        reason = stopping.reason(time.perf_counter() - start) if stopping.samples else None
        if reason is None and time.perf_counter() - start > 4 * limits.seconds:
            reason = "every block was disturbed"
    for item in series.values():
        item.stopped_because = reason
    return series


def _turn(subject: Subject, cache: Cache, gauge: Gauge, series: Series) -> list[float]:
    before = gauge.read()
    try:
        samples = subject.block(cache)
    except RivalLost as lost:
        series.lost = str(lost)
        return []
    if reason := disturbed(before, gauge.read()):
        series.discards.append(Discard(reason=reason, samples_us=tuple(samples)))
        return []
    series.blocks.append(samples)
    return samples


class Contestant:
    """The candidate in its cell."""

    def __init__(self, name: str, task: Task, case: Case, on: Staged, truths: Truths, generator: random.Random) -> None:
        self.name = name
        self._task, self._case, self._on, self._truths, self._generator = task, case, on, truths, generator
        self._visits: list[Visit] = list(on.visits)
        self._chained = False
        self._refill()  # capturing runs the calls, and a call may follow indices
        for key, visit in enumerate(self._visits):
            self._ask("prepare", key=key, slots=visit.slots)
        self._ask("prepare", key=WARM_KEY, slots=self._visits[0].slots * WARM_REPEATS)
        self._cost = statistics.median(self._samples([-1] * 16, Cache.COLD))

    def block(self, cache: Cache) -> list[float]:
        self._refill()
        samples = self._timed(cache)
        self._check(cold=cache is Cache.COLD)
        return samples

    def chain(self) -> None:
        slots = [slot for visit in self._visits for slot in visit.slots]
        self._ask("prepare", key=CHAIN_KEY, slots=slots, flushed=True)
        self._ask("prepare", key=FLUSH_KEY, slots=[-1] * len(slots), flushed=True)
        self._chained = True

    def slope_us(self) -> float:
        """Time of one call by our own wall clock: what 2n calls take longer than n."""
        keys = list(range(len(self._visits)))
        count = 4 * len(keys)
        short, long = (self._spun(keys * repeat) for repeat in (4, 8))
        return (long - short) / count * 1e6

    def _spun(self, keys: list[int]) -> float:
        start = time.perf_counter()
        self._ask("spin", keys=keys)
        return time.perf_counter() - start

    def _timed(self, cache: Cache) -> list[float]:
        if cache is Cache.WARM:
            return [sample / WARM_REPEATS for sample in self._samples([WARM_KEY] * 8, Cache.WARM)]
        if not self._chained:
            order = self._generator.sample(range(len(self._visits)), len(self._visits))
            return [max(sample - self._cost, 1e-3) for sample in self._samples(order, Cache.COLD)]
        return chained(self._samples([CHAIN_KEY, FLUSH_KEY] * _CHAIN_REPEATS, Cache.COLD), len(self._visits))

    def _samples(self, keys: list[int], cache: Cache) -> list[float]:
        return [float(sample) for sample in self._ask("time", keys=keys, cache=cache.value)["samples_us"]]

    def _ask(self, do: str, **arguments: object) -> dict[str, Any]:
        return self._on.cell.ask(do, CALL_S, **arguments)

    def _refill(self) -> None:
        """Contents that nobody has seen, and poison where results will be."""
        self._on.arena.poison(place for visit in self._visits for place in visit.places)
        for position, visit in enumerate(self._visits):
            draw = Draw(case=self._case, seed=self._generator.randrange(2**48))
            self._visits[position] = refreshed(self._task, visit, draw, scenario(self._task, draw, "cuda"))
            write_inputs(self._visits[position], self._on.arena)
        torch.cuda.synchronize()
        if preparing := [slot for visit in self._visits for slot in visit.preparing]:
            self._ask("run", slots=preparing)

    def _check(self, cold: bool) -> None:
        """One call against the full truth, the others against an estimate of it. Warm calls all hit the first slot."""
        chosen = self._generator.randrange(len(self._visits)) if cold else 0
        full = self._expect(chosen)
        for position in range(len(self._visits)) if cold else (0,):
            visit = self._visits[position]
            given = scenario(self._task, visit.draw, "cuda")
            expected = full if position == chosen else estimated(self._task, visit.draw, given, full)
            if self._task.mutates and not cold:
                continue  # called many times over on the same memory, by our own choice
            if mismatch := check_results(expected, read_results(self._task, visit, self._on.arena)):
                raise WrongWhileTimed(counterexample(visit, mismatch.kind, mismatch.message, mismatch.facts))

    def _expect(self, position: int) -> tuple[Expected, ...]:
        draw = self._visits[position].draw
        return expectations(self._task, draw, scenario(self._task, draw, "cuda"))


class Baseline:
    """One of torch's answers, in the rival's process."""

    def __init__(self, name: str, process: Process, case: Case, slots: int, generator: random.Random) -> None:
        self.name, self._process, self._slots, self._chained = name, process, slots, False
        draws = (Draw(case=case, seed=generator.randrange(2**48)) for _ in range(slots))
        self._draws = {str(key): encode(draw) for key, draw in enumerate(draws)}
        self._ask("prepare", _COMPILE_S, draws=self._draws)
        self._cost = statistics.median(self._samples([-1] * 16, Cache.COLD))

    def block(self, cache: Cache) -> list[float]:
        if cache is Cache.WARM:
            return [sample / WARM_REPEATS for sample in self._samples([WARM_KEY] * 8, cache)]
        if self._chained:
            return chained(self._samples([CHAIN_KEY, FLUSH_KEY] * _CHAIN_REPEATS, cache), self._slots)
        return [max(sample - self._cost, 1e-3) for sample in self._samples(list(range(self._slots)), cache)]

    def chain(self) -> None:
        self._ask("prepare_chain", _COMPILE_S, draws=self._draws)
        self._chained = True

    def _samples(self, keys: list[int], cache: Cache) -> list[float]:
        answer = self._ask("time", CALL_S, keys=keys, cache=cache.value)
        return [float(sample) for sample in answer["samples_us"]]

    def _ask(self, do: str, timeout_s: float, **arguments: object) -> dict[str, Any]:
        try:
            return self._process.ask(do, timeout_s, baseline=self.name, **arguments)
        except CellFailure as failure:
            raise RivalLost(str(failure)) from None


def chained(samples: Sequence[float], calls: int) -> list[float]:
    """Time of one call from pairs of (graph of calls and flushes, graph of flushes alone)."""
    pairs = zip(samples[::2], samples[1::2], strict=True)
    return [max((both - flushes) / calls, 1e-3) for both, flushes in pairs]
