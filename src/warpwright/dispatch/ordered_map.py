"""Applies a function to many items at once, for calls that wait: daemon threads that never delay the end of the
program.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered_map(function: Callable[[Item], Result], items: Sequence[Item], *, workers: int) -> Iterator[Result]:
    """Yields `function` of every item in the order of the items, several of them at a time.

    The threads are daemons, so that a slow answer does not delay a user who stops the program. An exception of
    `function` is raised when its item is due; no item is started after that.
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
            except BaseException as error:  # raised again in the consuming thread
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
