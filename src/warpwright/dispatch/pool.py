"""Applies a function to independent items on the CPU cores of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import ModuleType
from typing import TypeVar

from warpwright.core.errors import OurFault, WarpwrightError
from warpwright.core.protocols import Progress
from warpwright.core.records.evidence import Fault

Item = TypeVar("Item")
Result = TypeVar("Result")


def parallel(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    label: Callable[[Item], str] = str,
) -> list[Result]:
    """Returns `function` of every item, in order. Processes are spawned, so that they share no state."""
    if progress:
        progress.start(len(items), "")
    with ProcessPoolExecutor(
        max_workers=max(1, min(jobs or os.cpu_count() or 1, len(items))),
        mp_context=get_context("spawn"),
        initializer=_single_threaded,
    ) as pool:
        with _without_main():
            futures = {pool.submit(function, item): number for number, item in enumerate(items)}
        results: dict[int, Result] = {}
        try:
            for future in as_completed(futures):
                number = futures[future]
                results[number] = future.result()
                if progress:
                    progress.advance(label(items[number]))
        except BrokenProcessPool as error:
            raise OurFault(Fault(where="worker process", message=f"died: {error}", retryable=True)) from None
    return [results[number] for number in range(len(items))]


def within(function: Callable[[Item], Result], item: Item, seconds: float) -> Result | None:
    """Returns `function` of an item from a process of its own; None if it takes longer, and the process is killed.

    What that process has started dies with it.
    """
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answered, args=(sender, function, item))
    with _without_main():
        process.start()
    sender.close()
    try:
        answer = receiver.recv() if receiver.poll(seconds) else (None, None)
    except EOFError:
        raise OurFault(Fault(where="worker process", message="died", retryable=True)) from None
    finally:
        process.kill()
        process.join()
    result, error = answer
    if error is not None:
        raise error
    found: Result | None = result
    return found


def _answered(sender: Connection, function: Callable[[Item], Result], item: Item) -> None:
    _single_threaded()
    try:
        sender.send((function(item), None))
    except WarpwrightError as error:
        sender.send((None, error))


@contextmanager
def _without_main() -> Iterator[None]:
    """Hides the main module, which spawned processes would otherwise run again to find `__main__`.

    Everything sent to them is defined in Warpwright, so that scripts need no `if __name__ == "__main__"`.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _single_threaded() -> None:
    """Limits each worker to one thread: the pool already uses every core."""
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
