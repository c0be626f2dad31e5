"""Answers in order, from several at once."""

import threading

import pytest

from warpwright.dispatch.crew import in_order


def test_results_come_in_the_order_of_the_items_whoever_is_first() -> None:
    second_is_done = threading.Event()

    def answer(item: int) -> int:
        if item == 0:
            assert second_is_done.wait(30)
        else:
            second_is_done.set()
        return item * 10

    assert list(in_order(answer, [0, 1], workers=2)) == [0, 10]


def test_no_more_than_so_many_at_a_time() -> None:
    running, most, lock = set(), [], threading.Lock()

    def answer(item: int) -> int:
        with lock:
            running.add(item)
            most.append(len(running))
        with lock:
            running.discard(item)
        return item

    assert list(in_order(answer, list(range(50)), workers=3)) == list(range(50))
    assert max(most) <= 3


def test_an_error_comes_in_its_turn_and_ends_the_work() -> None:
    begun = []

    def answer(item: int) -> int:
        begun.append(item)
        if item == 1:
            raise ValueError("no answer")
        return item

    results = in_order(answer, list(range(1000)), workers=1)
    assert next(results) == 0
    with pytest.raises(ValueError, match="no answer"):
        list(results)


def test_nothing_to_do() -> None:
    assert list(in_order(str, [], workers=4)) == []
