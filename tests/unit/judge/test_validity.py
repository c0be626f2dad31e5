"""Invalid times: calls that reuse earlier results, and calls whose work was done by others."""

from __future__ import annotations

import random
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
import torch

from warpwright.core.records.evidence import Counterexample
from warpwright.core.records.measurement import Cache
from warpwright.judge.timing import timed_candidate
from warpwright.judge.timing.interleaving import CHAINS
from warpwright.judge.timing.timed_candidate import TimedCandidate, WrongWhileTimed
from warpwright.judge.timing.validity import invalid_reason


class Played:
    """Has a given time for calls alone, among others, and again on the same contents; the first looks may be slow."""

    def __init__(
        self,
        *,
        alone: float,
        among: float,
        again: float | None = None,
        chained: bool = False,
        slots: int = 12,
        has_kernels: bool = True,
        slow_looks: int = 0,
    ) -> None:
        self.active, self.cost, self.has_kernels = range(slots), 0.0, has_kernels
        self.latest_us, self.chained = among, {Cache.COLD} if chained else None
        self._times, self._slow = (alone, among, among if again is None else again), slow_looks

    def refill(self, positions: Sequence[int] | None = None) -> None:
        """Contents do not matter here."""

    def samples(self, keys: Sequence[int | None], cache: Cache, restore: bool = True) -> list[float]:
        _, among, again = self._times
        if not restore:
            self._slow -= 1
            return [among, again] * (len(keys) // 2)
        return [2 * among if self._slow > 0 else among] * len(keys)

    def alone(self, calls: int) -> list[float]:
        return [self._times[0]] * calls

    def half_block(self) -> list[float]:
        return self.block(Cache.COLD)

    def block(self, cache: Cache) -> list[float]:
        return [self._times[1]] * len(self.active)


@pytest.mark.parametrize("chained", [False, True])
def test_an_honest_call_takes_as_long_alone_as_among_others(chained: bool) -> None:
    assert invalid_reason(Played(alone=50.0, among=47.0, chained=chained)) is None


def test_a_call_that_does_the_work_of_later_calls_is_invalid() -> None:
    assert "a call does the work of others" in (invalid_reason(Played(alone=50.0, among=28.0)) or "")


def test_a_chain_may_hide_the_start_of_a_call_but_not_its_work() -> None:
    assert invalid_reason(Played(alone=8.0, among=4.0, chained=True)) is None
    assert "a call does the work of others" in (invalid_reason(Played(alone=20.0, among=10.0, chained=True)) or "")


def test_a_call_that_reuses_results_is_invalid() -> None:
    assert "it reuses results" in (invalid_reason(Played(alone=50.0, among=50.0, again=30.0)) or "")


def test_a_call_that_was_slow_the_first_time_reuses_nothing() -> None:
    assert invalid_reason(Played(alone=50.0, among=50.0, slow_looks=2)) is None


def test_torchs_own_operations_are_never_accused() -> None:
    assert invalid_reason(Played(alone=50.0, among=20.0, again=10.0, has_kernels=False)) is None


def test_a_single_call_has_no_later_calls_whose_work_it_could_do() -> None:
    assert invalid_reason(Played(alone=50.0, among=28.0, slots=1)) is None
    assert "it reuses results" in (invalid_reason(Played(alone=50.0, among=50.0, again=5.0, slots=1)) or "")


class Early(TimedCandidate):
    """Twelve calls of which some run; each writes to its own memory, and with `reach` to that of the next calls."""

    def __init__(self, *, reach: int, chained: bool) -> None:
        self._generator, self.active, self.cost, self._reach = random.Random(3), range(12), 0.0, reach
        self.chained, self._calls = ({Cache.COLD} if chained else None), {}
        if chained:
            self._calls = {key: list(range(12))[number::CHAINS] for number, key in enumerate(range(1000, 9000, 2000))}
        self._staged_calls, self.written = list(range(12)), set()
        self._staged = SimpleNamespace(arena=self.written)

    def refill(self, positions: Sequence[int] | None = None) -> None:
        self.written.clear()

    def samples(self, keys: Sequence[int | None], cache: Cache, restore: bool = True) -> list[float]:
        for position in (position for key in keys for position in self._calls.get(key, [key])):
            self.written |= set(range(position, position + 1 + self._reach))
        return [1.0] * len(keys)

    def check(self, called: Sequence[int]) -> None:
        assert called
        assert self.written >= set(called)


@pytest.mark.parametrize("chained", [False, True])
def test_a_call_that_writes_to_the_memory_of_another_is_refuted(monkeypatch: pytest.MonkeyPatch, chained: bool) -> None:
    monkeypatch.setattr(timed_candidate, "untouched", lambda call, written: torch.tensor(call not in written))
    monkeypatch.setattr(timed_candidate, "counterexample", lambda *told: Counterexample(kind=told[1], message=told[2]))
    Early(reach=0, chained=chained).half_block()
    with pytest.raises(WrongWhileTimed, match="memory of another"):
        Early(reach=1, chained=chained).half_block()
