"""Waiting for many answers at once: threads that never keep the program from ending."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(function: Callable[[Item], Result], items: Sequence[Item], *, workers: int) -> Iterator[Result]:
    """`function` of every item, several at a time, given out in the order of the items.

    The threads are daemons: an answer that is a minute away does not hold up a user who wants to stop.
    What `function` raises is raised here, when its turn comes; nothing new is begun after that.
    """
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    slots: list[queue.SimpleQueue[tuple[Result | None, BaseException | None]]]
    slots = [queue.SimpleQueue() for _ in items]
    stopped = threading.Event()
    for number in range(len(items)):
        todo.put(number)

    def work() -> None:
        while not stopped.is_set():
            try:
                number = todo.get_nowait()
            except queue.Empty:
                return
            try:
                slots[number].put((function(items[number]), None))
            except BaseException as error:  # carried to whoever waits
                slots[number].put((None, error))

    for _ in range(min(workers, len(items))):
        threading.Thread(target=work, daemon=True).start()
    try:
        for slot in slots:
            result, error = slot.get()
            if error is not None:
                raise error
            yield result  # type: ignore[misc]
    finally:
        stopped.set()
