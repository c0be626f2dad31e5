"""CPU processes that compute the expected values of small draws while a candidate is checked.

Expected values of one draw take a CPU tens of milliseconds, nearly all of them spent in Python. These processes are
forked from the fork server, which has imported torch, and they see neither the GPU nor the candidate.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import cast

import torch

from warpwright.core.task import Draw, Task
from warpwright.judge.processes.workers import forkserver_context, without_main
from warpwright.oracle.truth.expected import Expected, expectations, scenario

MOST, LEFT_ALONE = 12, 2
ExpectedTensors = tuple[Expected, ...]


class ReferenceWorkers:
    """A process pool, started at the first submission; absent on machines without a spare core."""

    def __init__(self, count: int | None = None) -> None:
        self._count = min((os.cpu_count() or 1) - LEFT_ALONE, MOST) if count is None else count
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, task: Task, draw: Draw, runs: int) -> Future[bytes] | None:
        if self._count < 1:
            return None
        with without_main():
            self._pool = self._pool or ProcessPoolExecutor(self._count, forkserver_context())
            return self._pool.submit(_pickled_expectations, task, draw, runs)

    def close(self) -> None:
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)


def result_or_none(coming: Future[bytes]) -> ExpectedTensors | None:
    """Returns the computed values, or None if the worker failed; the caller then computes them and sees the error
    itself.
    """
    try:
        return cast(ExpectedTensors, pickle.loads(coming.result()))
    except Exception:
        return None


def expected_on_cpu(task: Task, draw: Draw, runs: int) -> ExpectedTensors:
    """Computes the expected values in this process."""
    with _one_thread():
        return expectations(task, draw, scenario(task, draw, "cpu"), runs)


def _pickled_expectations(task: Task, draw: Draw, runs: int) -> bytes:
    return pickle.dumps(expected_on_cpu(task, draw, runs))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Restricts torch to one thread: more threads do not help small operations and compete with compilers for cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
