"""Invalid times: calls that reuse earlier results, and calls whose work was done by others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from warpwright.core.records.measurement import Cache
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
