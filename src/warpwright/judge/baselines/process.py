"""The rival: a process that runs torch's own answers to a task, timed by the same stopwatch as the candidate.

Baselines are what a user would otherwise run: the reference eagerly, under torch.compile, under max-autotune, and what
the task names as an expert's choice. They are captured in CUDA graphs, like the candidate, so that launch gaps of the
CPU count for neither side.
"""

from __future__ import annotations

import fcntl
import gc
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
from warpwright.judge.gpu.free_memory import SPARE_BYTES, make_room
from warpwright.judge.gpu.precision import allow_tf32
from warpwright.judge.processes.link import serve
from warpwright.judge.timing.cuda_timer import CudaTimer, Step
from warpwright.judge.timing.interleaving import POOL_BYTES
from warpwright.oracle.truth.expected import Scenario, scenario
from warpwright.oracle.truth.reference import Function, differentiable, function, outputs, tensors_in

COPIED = 512
"""Bytes: whole vectors, as torch allocates them."""
TRIED = 5
"""Calls by which the quicker way to copy is found."""
MODES = {"eager": None, "compile": "default", "max-autotune": "max-autotune-no-cudagraphs"}


def compiles(baseline: str) -> bool:
    return MODES.get(baseline) is not None


class MeasurementLock:
    """A lock between processes, which whoever holds it may take again."""

    def __init__(self) -> None:
        self.path: str | None = None
        """None where there is nobody to wait for."""
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
    """Captured baselines by name and slot."""

    def __init__(self) -> None:
        torch.cuda.init()
        self._timer = CudaTimer()
        self._functions: dict[str, Function] = {}
        self._copying: dict[str, int] = {}
        """The quicker way to copy as much as a case moves."""
        self._lock = MeasurementLock()

    def task(self, task: dict[str, Any]) -> dict[str, Any]:
        """The one that is answered from now on; of others nothing is kept."""
        self.forget()
        self._functions.clear()
        self._copying.clear()
        self._task: Task = decode(Task, task)
        allow_tf32(self._task.tolerance.tf32)
        return {"torch": torch.__version__}

    def share_lock(self, path: str) -> dict[str, Any]:
        """From now on it only works while no other process measures."""
        self._lock.path = path
        return {}

    def prepare(self, baseline: str, draws: dict[str, Any]) -> dict[str, Any]:
        """Compiles (once) and captures a baseline for the draws by key, as many as its share of the card holds."""
        start, staged = time.perf_counter(), 1
        coming = [(int(key), decode(Draw, data)) for key, data in draws.items()]
        self._stage(baseline, *coming[0])  # compiles, and may measure
        make_room()
        with self._lock.held():
            while staged < len(coming) and torch.cuda.memory_reserved() < POOL_BYTES:
                self._stage(baseline, *coming[staged])
                staged += 1
                make_room()
        return {"seconds": time.perf_counter() - start, "staged": staged}

    def chain(self, baseline: str, key: int, calls: list[int], warm: bool, work: bool) -> dict[str, Any]:
        """Many prepared calls as one."""
        self._timer.chain((baseline, key), [(baseline, call) for call in calls], warm, work)
        return {}

    def time(self, baseline: str, keys: list[int | None], cache: str) -> dict[str, Any]:
        """Device times of what was prepared."""
        named = [None if key is None else (baseline, key) for key in keys]
        return {"samples_us": self._timer.time(named, Cache(cache))}

    def forget(self) -> dict[str, Any]:
        self._timer.forget()
        if torch.cuda.memory_allocated() > SPARE_BYTES:  # autograd's graphs and compiled functions hold each other
            gc.collect()
        make_room()
        return {}

    def describe_error(self, error: Exception) -> dict[str, Any]:
        """A baseline that fails is reported as absent, never as fast."""
        return {"call": "baseline", "error": type(error).__name__, "message": str(error)[:2000]}

    def _stage(self, baseline: str, key: int, draw: Draw) -> None:
        with torch.cuda.stream(self._timer.stream):
            inputs, call = self._copy(draw.case) if baseline == COPY else self._work(baseline, draw)
        self._timer.capture((baseline, key), [call], inputs)

    def _copy(self, case: Case) -> tuple[list[torch.Tensor], Step]:
        """What stands for the task: as many bytes, half of them read, half written.

        In a graph the driver's own copy takes half as long again for some byte counts, and a kernel somewhat longer for
        small ones: the quicker of the two is meant.
        """
        half = -(-int(traffic(self._task.work, case)) // 2)
        source = torch.empty(-(-max(half, 1) // COPIED) * COPIED // 4, dtype=torch.int32, device="cuda")
        target = torch.empty_like(source)
        ways = [partial(target.copy_, source), partial(torch.bitwise_or, source, 0, out=target)]
        if case.name not in self._copying:
            with self._lock.held():
                times = [self._timer.median_us(way, TRIED) for way in ways]
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
    """One that compiles, and measures to choose between variants."""

    def __init__(self) -> None:
        import_module("torch._inductor.compile_fx")  # takes seconds, in which the candidate is checked
        super().__init__()

    def task(self, task: dict[str, Any]) -> dict[str, Any]:
        torch._dynamo.reset()
        torch._dynamo.config.recompile_limit = 256  # beyond it torch would silently run eagerly
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
