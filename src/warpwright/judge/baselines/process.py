"""A process that runs torch's implementations of a task, timed by the same CudaTimer as the candidate.

Baselines are what a user would otherwise run: the reference in eager mode, under torch.compile, under max-autotune, and
an expert's implementation where the task names one. Like the candidate they are captured in CUDA graphs, so that CPU
launch gaps count for neither side.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

import torch

from warpwright.core.codec import decode
from warpwright.core.gpus.limit import traffic
from warpwright.core.records.measurement import COPY, Cache
from warpwright.core.task import Case, Direction, Draw, Task
from warpwright.judge.gpu.free_memory import drop_cycles, make_room
from warpwright.judge.gpu.peak_memory import torch_peak_bytes
from warpwright.judge.gpu.precision import allow_tf32
from warpwright.judge.processes.link import serve
from warpwright.judge.timing.cuda_timer import CudaTimer, Step
from warpwright.judge.timing.interleaving import POOL_BYTES
from warpwright.oracle.truth.expected import Scenario, scenario
from warpwright.oracle.truth.reference import Function, differentiable, function, outputs, tensors_in

COPY_ALIGNMENT = 512
"""Bytes to which copies are padded: torch's allocation granularity."""
COPY_TRIALS = 5
"""Calls that are timed to choose the faster way to copy."""
MODES = {"eager": None, "compile": "default", "max-autotune": "max-autotune-no-cudagraphs"}


def compiles(baseline: str) -> bool:
    return MODES.get(baseline) is not None


class MeasurementLock:
    """A re-entrant lock between processes, held while one of them measures."""

    def __init__(self) -> None:
        self.path: str | None = None
        """The lock file; None when no other process measures."""
        self._mine = False

    @contextmanager
    def held(self) -> Iterator[None]:
        if self._mine or self.path is None:
            yield
            return
        with open(self.path, "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            self._mine = True
            try:
                yield
            finally:
                self._mine = False


class BaselineProcess:
    """Captured baselines, by name and slot."""

    def __init__(self) -> None:
        torch.cuda.init()
        self._timer = CudaTimer()
        self._functions: dict[str, Function] = {}
        self._copying: dict[str, int] = {}
        """Index of the faster way to copy, by case."""
        self._lock = MeasurementLock()

    def task(self, task: dict[str, Any]) -> dict[str, Any]:
        """Sets the task and drops everything that belongs to the task before."""
        self.forget()
        self._functions.clear()
        self._copying.clear()
        self._task: Task = decode(Task, task)
        allow_tf32(self._task.tolerance.tf32)
        return {"torch": torch.__version__}

    def share_lock(self, path: str) -> dict[str, Any]:
        """Sets the lock file; from then on measurements wait for those of other processes."""
        self._lock.path = path
        return {}

    def prepare(self, baseline: str, draws: dict[str, Any]) -> dict[str, Any]:
        """Compiles a baseline once and captures it for as many of the draws as fit into its share of GPU memory."""
        start, staged = time.perf_counter(), 1
        coming = [(int(key), decode(Draw, data)) for key, data in draws.items()]
        call = self._stage(baseline, *coming[0])  # compiles, and may measure
        peak = None if baseline == COPY else torch_peak_bytes(call)
        make_room()
        with self._lock.held():
            while staged < len(coming) and torch.cuda.memory_reserved() < POOL_BYTES:
                self._stage(baseline, *coming[staged])
                staged += 1
                make_room()
        return {"seconds": time.perf_counter() - start, "staged": staged, "peak_bytes": peak}

    def chain(self, baseline: str, key: int, calls: list[int], warm: bool, work: bool) -> dict[str, Any]:
        """Captures many prepared calls in one graph."""
        self._timer.chain((baseline, key), [(baseline, call) for call in calls], warm, work)
        return {}

    def time(self, baseline: str, keys: list[int | None], cache: str) -> dict[str, Any]:
        """Measures the device times of prepared calls."""
        named = [None if key is None else (baseline, key) for key in keys]
        return {"samples_us": self._timer.time(named, Cache(cache))}

    def forget(self) -> dict[str, Any]:
        self._timer.forget()
        drop_cycles()
        make_room()
        return {}

    def describe_error(self, error: Exception) -> dict[str, Any]:
        """Describes the error of a baseline that fails; it is reported as absent, never as fast."""
        return {"call": "baseline", "error": type(error).__name__, "message": str(error)[:2000]}

    def _stage(self, baseline: str, key: int, draw: Draw) -> Step:
        with torch.cuda.stream(self._timer.stream):
            inputs, call = self._copy(draw.case) if baseline == COPY else self._work(baseline, draw)
        self._timer.capture((baseline, key), [call], inputs)
        return call

    def _copy(self, case: Case) -> tuple[list[torch.Tensor], Step]:
        """Builds a copy that reads and writes as many bytes in total as the task moves.

        In a graph, the driver's copy takes half as long again for some byte counts, and a copy kernel is slightly
        slower for small ones; the faster of the two is used.
        """
        half = -(-int(traffic(self._task.work, case)) // 2)
        source = torch.empty(-(-max(half, 1) // COPY_ALIGNMENT) * COPY_ALIGNMENT // 4, dtype=torch.int32, device="cuda")
        target = torch.empty_like(source)
        ways = [partial(target.copy_, source), partial(torch.bitwise_or, source, 0, out=target)]
        if case.name not in self._copying:
            with self._lock.held():
                times = [self._timer.median_us(way, COPY_TRIALS) for way in ways]
            self._copying[case.name] = times.index(min(times))
        return [source], ways[self._copying[case.name]]

    def _work(self, baseline: str, draw: Draw) -> tuple[list[torch.Tensor], Step]:
        given = scenario(self._task, draw, "cuda")
        return [*tensors_in(given.arguments), *given.gradients], self._call(baseline, draw, given)

    def _call(self, baseline: str, draw: Draw, given: Scenario) -> Callable[[], object]:
        called = self._function(baseline)
        if self._task.direction is Direction.FORWARD:
            return lambda: _without_grad(called, given.arguments)
        leaves, arguments = differentiable(self._task, draw.case, given.arguments)
        if self._task.direction is Direction.TRAINING:
            return lambda: _gradients(outputs(self._task, called, arguments), leaves, given)
        found = outputs(self._task, called, arguments)
        return lambda: _gradients(found, leaves, given)

    def _function(self, baseline: str) -> Function:
        if baseline not in self._functions:
            named = None if baseline in MODES else baseline
            plain = function(self._task.reference, named)
            mode = MODES.get(baseline)
            self._functions[baseline] = torch.compile(plain, dynamic=False, mode=mode) if mode else plain
        return self._functions[baseline]


class CompiledBaselineProcess(BaselineProcess):
    """A baseline process that compiles, and measures to choose between variants."""

    def __init__(self) -> None:
        import_module("torch._inductor.compile_fx")  # takes seconds; done while the candidate is checked
        super().__init__()

    def task(self, task: dict[str, Any]) -> dict[str, Any]:
        torch._dynamo.reset()
        torch._dynamo.config.recompile_limit = 256  # beyond this limit torch falls back to eager mode without a word
        return super().task(task)

    def share_lock(self, path: str) -> dict[str, Any]:
        from torch._inductor.runtime.benchmarking import Benchmarker

        for name in ("benchmark_gpu", "benchmark_many_gpu"):
            if plain := getattr(Benchmarker, name, None):
                setattr(Benchmarker, name, self._lock.held()(plain))
        return super().share_lock(path)


def _without_grad(called: Function, arguments: list[Any]) -> object:
    with torch.no_grad():
        return called(*arguments)


def _gradients(found: list[torch.Tensor], leaves: list[torch.Tensor], given: Scenario) -> object:
    flowing = [tensor for tensor in found if tensor.requires_grad]
    return torch.autograd.grad(flowing, leaves, given.gradients, retain_graph=True, allow_unused=True)


def main(connection: Connection) -> None:
    serve(connection, BaselineProcess)


def compiling(connection: Connection) -> None:
    serve(connection, CompiledBaselineProcess)
