"""Truths of small draws, many at a time, on cores that have nothing else to do while a candidate is checked.

What is true of a draw takes a CPU tens of milliseconds, nearly all of it Python. These processes have torch from the
nursery and see neither the GPU nor anything of a candidate.
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
    """Started when first asked; none on machines that have no core to spare."""

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
    """None where nothing came of it: whoever asked then sees the reason himself."""
    try:
        return cast(ExpectedTensors, pickle.loads(coming.result()))
    except Exception:
        return None


def expected_on_cpu(task: Task, draw: Draw, runs: int) -> ExpectedTensors:
    """Here and now."""
    with _one_thread():
        return expectations(task, draw, scenario(task, draw, "cpu"), runs)


def _pickled_expectations(task: Task, draw: Draw, runs: int) -> bytes:
    return pickle.dumps(expected_on_cpu(task, draw, runs))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Small operations gain nothing from more, and lose much where compilers hold the other cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
