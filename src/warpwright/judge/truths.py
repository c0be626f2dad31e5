"""What is true of each draw, computed once on the judge's side and kept: candidates come and go, truth stays.

An honest run is hundreds of operations. On small draws a GPU takes longer to be told of them than a CPU to do them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch

from warpwright.core.codec import content_id
from warpwright.core.task import Draw, Task
from warpwright.oracle.check import check_in_steps
from warpwright.oracle.compare import Mismatch
from warpwright.oracle.reference import Tensors, tensors_in
from warpwright.oracle.truth import Expected, Scenario, expectations, scenario

MOST_TASKS = 16
SMALL = 1 << 15


class Truths:
    """Inputs and expectations of one task, by draw."""

    def __init__(self, task: Task, device: str = "cuda") -> None:
        self._task, self._device = task, device
        self._scenarios: dict[str, Scenario] = {}
        self._expected: dict[tuple[str, int], tuple[Expected, ...]] = {}

    def scenario(self, draw: Draw) -> Scenario:
        key = content_id(draw)
        if key not in self._scenarios:
            self._scenarios[key] = scenario(self._task, draw, self._device)
        return self._scenarios[key]

    def check(self, draw: Draw, results: Tensors) -> Mismatch | None:
        """What is wrong with a candidate's results."""
        there = [result.to(self._where(draw)) for result in results]
        return check_in_steps(lambda runs: self._expectations(draw, runs), there)[1]

    def _expectations(self, draw: Draw, runs: int) -> tuple[Expected, ...]:
        key = content_id(draw), runs
        if key not in self._expected:
            given = self.scenario(draw).on(self._where(draw))
            with _one_thread():
                self._expected[key] = expectations(self._task, draw, given, runs)
        return self._expected[key]

    def _where(self, draw: Draw) -> str:
        elements = sum(tensor.numel() for tensor in tensors_in(self.scenario(draw).arguments))
        return "cpu" if elements <= SMALL else self._device


class Shelf:
    """The truths of the tasks that were asked for last: memory is finite."""

    def __init__(self) -> None:
        self._kept: dict[str, Truths] = {}

    def of(self, task: Task) -> Truths:
        key = replace(task, cases=(), dtypes=(), baselines=()).id  # what is true of a draw depends on none of these
        found = self._kept[key] = self._kept.pop(key) if key in self._kept else Truths(task)
        while len(self._kept) > MOST_TASKS:
            del self._kept[next(iter(self._kept))]
        return found

    def clear(self) -> None:
        self._kept.clear()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Small operations gain nothing from more, and lose much where compilers hold the other cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
