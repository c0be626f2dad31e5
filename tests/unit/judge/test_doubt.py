"""Times that are none: a call that remembers, and one that others have worked for."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from warpwright.core.measurement import Cache
from warpwright.judge.contestant import Contestant


class Played(Contestant):
    """Times by rule: alone, among others, and again on the same contents."""

    def __init__(self, *, alone: float, among: float, again: float | None = None, chained: bool = False) -> None:
        self._generator, self._active, self._cost = random.Random(1), range(12), 0.0
        self._latest_us, self._chained = among, {Cache.COLD} if chained else None
        self._times, self._filled, self.checked = (alone, among, among if again is None else again), 12, []

    def _refill(self, positions: Sequence[int] | None = None) -> None:
        self._filled = 12 if positions is None else len(positions)

    def _samples(self, keys: Sequence[int | None], cache: Cache, restore: bool = True) -> list[float]:
        alone, among, again = self._times
        if not restore:
            return [among, again] * (len(keys) // 2)
        return [alone if self._filled == 1 else among] * len(keys)

    def _check(self, positions: Sequence[int] | None = None) -> None:
        self.checked.append(positions)

    def block(self, cache: Cache) -> list[float]:
        self._refill()
        return self._samples(self._active, cache)


@pytest.mark.parametrize("chained", [False, True])
def test_an_honest_call_takes_as_long_alone_as_among_others(chained: bool) -> None:
    played = Played(alone=50.0, among=47.0, chained=chained)
    assert played.doubt() is None
    assert all(positions is not None and len(positions) == 1 for positions in played.checked)


def test_a_call_that_did_the_work_of_others_is_found_out() -> None:
    assert "a call does the work of others" in (Played(alone=50.0, among=28.0).doubt() or "")


def test_the_start_of_a_call_may_hide_in_a_chain_but_not_its_work() -> None:
    assert Played(alone=8.0, among=4.0, chained=True).doubt() is None
    assert "a call does the work of others" in (Played(alone=20.0, among=10.0, chained=True).doubt() or "")


def test_a_call_that_remembers_is_found_out() -> None:
    assert "it remembers" in (Played(alone=50.0, among=50.0, again=30.0).doubt() or "")
