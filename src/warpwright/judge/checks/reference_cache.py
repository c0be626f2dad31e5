"""Inputs and expected values of each draw, computed once by the judge and kept for all candidates of a task.

An honest run is hundreds of operations. For small draws, launching them on a GPU takes longer than running them on a
CPU.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import replace

import torch

from warpwright.core.codec import content_id
from warpwright.core.signature import flatten, forward_arguments
from warpwright.core.task import Draw, Task
from warpwright.judge.checks.reference_workers import ExpectedTensors, ReferenceWorkers, expected_on_cpu, result_or_none
from warpwright.oracle.compare.elements import Mismatch
from warpwright.oracle.compare.results import check_in_steps
from warpwright.oracle.truth.expected import FEW_RUNS, Scenario, expectations, scenario
from warpwright.oracle.truth.reference import Tensors

MOST_BYTES = 4 << 30
"""Bytes of GPU memory above which only the expected values of one task are kept."""
SMALL = 1 << 15
"""Elements of all arguments together, up to which a draw counts as small."""


class ReferenceCache:
    """Inputs and expected values of one task, by draw."""

    def __init__(self, task: Task, device: str = "cuda") -> None:
        self._task, self._device = task, device
        self._scenarios: dict[str, Scenario] = {}
        self._expected: dict[tuple[str, int], ExpectedTensors] = {}
        self._coming: dict[tuple[str, int], Future[bytes]] = {}

    def prefetch(self, draws: Iterable[Draw], reference_workers: ReferenceWorkers) -> None:
        """Starts computing the expected values of small draws in the reference workers."""
        for draw in draws:
            key = content_id(draw), FEW_RUNS
            is_new = key not in self._expected and key not in self._coming
            if is_new and self._is_small(draw) and (coming := reference_workers.submit(self._task, draw, FEW_RUNS)):
                self._coming[key] = coming

    def scenario(self, draw: Draw) -> Scenario:
        """Returns the inputs of a draw. Small ones are generated on the CPU, bit for bit as the reference workers
        generate them.
        """
        key = content_id(draw)
        if key not in self._scenarios:
            where = "cpu" if self._is_small(draw) else self._device
            self._scenarios[key] = scenario(self._task, draw, where).on(self._device)
        return self._scenarios[key]

    def check(self, draw: Draw, results: Tensors) -> Mismatch | None:
        """Compares a candidate's results with the expected values; None if they agree."""
        there = [result.cpu() for result in results] if self._is_small(draw) else results
        return check_in_steps(lambda runs: self.expected(draw, runs), there)[1]

    def expected(self, draw: Draw, runs: int) -> ExpectedTensors:
        """Returns the expected values of a draw, computed from the given number of honest runs."""
        key = content_id(draw), runs
        if key not in self._expected:
            coming = self._coming.pop(key, None)
            self._expected[key] = (result_or_none(coming) if coming else None) or self._computed(draw, runs)
        return self._expected[key]

    def _computed(self, draw: Draw, runs: int) -> ExpectedTensors:
        if self._is_small(draw):
            return expected_on_cpu(self._task, draw, runs)
        return expectations(self._task, draw, self.scenario(draw), runs)

    def _is_small(self, draw: Draw) -> bool:
        tensors = (tensor for spec in forward_arguments(self._task, draw.case) for tensor in flatten(spec))
        return sum(math.prod(tensor.shape) for tensor in tensors) <= SMALL


class ReferenceCaches:
    """Reference caches of the tasks used last, evicted when GPU memory runs short."""

    def __init__(self) -> None:
        self._kept: dict[str, ReferenceCache] = {}

    def of(self, task: Task) -> ReferenceCache:
        # Expected values depend on none of these three fields.
        key = replace(task, cases=(), dtypes=(), baselines=()).id
        found = self._kept[key] = self._kept.pop(key) if key in self._kept else ReferenceCache(task)
        while len(self._kept) > 1 and torch.cuda.memory_allocated() > MOST_BYTES:
            del self._kept[next(iter(self._kept))]
        return found

    def clear(self) -> None:
        self._kept.clear()
