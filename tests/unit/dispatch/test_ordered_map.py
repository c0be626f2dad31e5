"""A function of many items at once gives its results in order."""

import threading

import pytest

from warpwright.dispatch.ordered_map import ordered_map


def test_results_keep_the_order_of_the_items_whichever_ends_first() -> None:
    second_is_done = threading.Event()

    def answer(item: int) -> int:
        if item == 0:
            assert second_is_done.wait(30)
        else:
            second_is_done.set()
        return item * 10

    assert list(ordered_map(answer, [0, 1], workers=2)) == [0, 10]


def test_no_more_items_run_at_once_than_there_are_workers() -> None:
    running, most, lock = set(), [], threading.Lock()

    def answer(item: int) -> int:
        with lock:
            running.add(item)
            most.append(len(running))
        with lock:
            running.discard(item)
        return item

    assert list(ordered_map(answer, list(range(50)), workers=3)) == list(range(50))
    assert max(most) <= 3


def test_an_error_is_raised_in_order_and_stops_further_items() -> None:
    begun = []

    def answer(item: int) -> int:
        begun.append(item)
        if item == 1:
            raise ValueError("no answer")
        return item

    results = ordered_map(answer, list(range(1000)), workers=1)
    assert next(results) == 0
    with pytest.raises(ValueError, match="no answer"):
        list(results)


def test_no_items_give_no_results() -> None:
    assert list(ordered_map(str, [], workers=4)) == []
