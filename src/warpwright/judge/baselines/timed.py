"""A baseline, timed in its own process."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from warpwright.core.codec import encode
from warpwright.core.errors import OurFault
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Draw
from warpwright.judge.checks.examine import CALL_S
from warpwright.judge.processes.workers import Worker, WorkerFailure
from warpwright.judge.timing.interleaving import CHAIN_CALLS, CHAINS, SHORT_US, DroppedOut, chain_keys, per_call_us

SLOWED, SLOWED_US = 1.15, 3.0
COMPILE_S = 300.0


class TimedBaseline:
    """A prepared baseline. Created before any candidate process starts, so that it can also be timed alone."""

    def __init__(self, name: str, process: Worker, draws: Sequence[Draw]) -> None:
        self.name, self._process = name, process
        self._chained: set[Cache] | None = None
        encoded = {str(key): encode(draw) for key, draw in enumerate(draws)}
        answer = self._ask("prepare", COMPILE_S, draws=encoded)
        self._slots = int(answer["staged"])
        self.peak_bytes: int | None = answer["peak_bytes"]

    def time_alone(self) -> None:
        self._cost = statistics.median(self._samples([None] * 16, Cache.COLD))
        self._plain(Cache.COLD)
        self.alone_us = statistics.median(self._plain(Cache.COLD))

    def is_short(self) -> bool:
        return self.alone_us < SHORT_US

    def slope_us(self) -> None:
        return None

    def block(self, cache: Cache) -> list[float]:
        if self._chained is None:
            return self._plain(cache)
        parts, calls = chain_keys(0, cache), list(range(min(self._slots, CHAIN_CALLS)))
        if cache not in self._chained:
            for key, work in parts.items():
                self._ask("chain", COMPILE_S, key=key, calls=calls, warm=cache is Cache.WARM, work=work)
            self._chained.add(cache)
        return per_call_us(self._samples([*parts] * CHAINS, Cache.COLD), cache, self._cost, len(calls))

    def chain(self) -> None:
        self._chained = set()

    def slowed(self) -> str | None:
        """Explains by how much the baseline is slower beside the candidate than alone; None if it is not slower."""
        beside = statistics.median(self._plain(Cache.COLD))
        if beside <= SLOWED * self.alone_us + SLOWED_US:
            return None
        return f"{self.name} takes {beside:.1f} µs beside this candidate, {self.alone_us:.1f} alone"

    def _plain(self, cache: Cache) -> list[float]:
        return [max(sample - self._cost, 1e-3) for sample in self._samples(list(range(self._slots)), cache)]

    def _samples(self, keys: Sequence[int | None], cache: Cache) -> list[float]:
        answer = self._ask("time", CALL_S, keys=list(keys), cache=cache.value)
        return [float(sample) for sample in answer["samples_us"]]

    def _ask(self, do: str, timeout_s: float, **arguments: object) -> dict[str, Any]:
        try:
            return self._process.ask(do, timeout_s, baseline=self.name, **arguments)
        except (WorkerFailure, OurFault) as failure:
            raise DroppedOut(str(failure)) from None
