"""The rival: a process that runs torch's own answers to a task, timed by the same stopwatch as the candidate.

Baselines are what a user would otherwise run: the reference eagerly, under torch.compile, under max-autotune, and what
the task names as an expert's choice. They are captured in CUDA graphs, like the candidate, so that launch gaps of the
CPU count for neither side.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch

from warpwright.core.codec import decode
from warpwright.core.measurement import Cache
from warpwright.core.task import Direction, Draw, Task
from warpwright.judge.link import serve
from warpwright.judge.stopwatch import (
    CHAIN_KEY,
    FLUSH_KEY,
    WARM_KEY,
    WARM_REPEATS,
    Flush,
    captured,
    time_replays,
)
from warpwright.oracle.reference import Function, differentiable, function, outputs
from warpwright.oracle.truth import Scenario, scenario

MODES = {"eager": None, "compile": "default", "max-autotune": "max-autotune-no-cudagraphs"}


class Rival:
    """Captured baselines by name and slot."""

    def __init__(self) -> None:
        torch.cuda.init()
        self._flush = Flush()
        self._graphs: dict[tuple[str, int], torch.cuda.CUDAGraph] = {}
        self._inputs: list[Scenario] = []
        """Graphs hold addresses, not tensors: somebody must keep what they point to."""
        self._functions: dict[str, Function] = {}

    def task(self, task: dict[str, Any]) -> dict[str, Any]:
        self._task: Task = decode(Task, task)
        allow_tf32(self._task.tolerance.tf32)
        torch._dynamo.config.recompile_limit = 256  # beyond it torch would silently run eagerly
        return {"torch": torch.__version__}

    def prepare(self, baseline: str, draws: dict[str, Any]) -> dict[str, Any]:
        """Compiles (once) and captures a baseline for every draw by key, and many calls on the first for warm times."""
        start = time.perf_counter()
        calls = self._staged(baseline, draws)
        self._graphs |= {(baseline, key): captured([call]) for key, call in calls.items()}
        self._graphs[baseline, WARM_KEY] = captured([calls[0]] * WARM_REPEATS)
        return {"seconds": time.perf_counter() - start}

    def prepare_chain(self, baseline: str, draws: dict[str, Any]) -> dict[str, Any]:
        """All draws in one graph with a flush before each, and the flushes alone in another."""
        calls = self._staged(baseline, draws).values()
        self._graphs[baseline, CHAIN_KEY] = captured([step for call in calls for step in (self._flush, call)])
        self._graphs[baseline, FLUSH_KEY] = captured([self._flush for _ in calls])
        return {}

    def time(self, baseline: str, keys: list[int], cache: str) -> dict[str, Any]:
        graphs = [self._graphs[baseline, key] if key >= 0 else None for key in keys]
        batch = time_replays(graphs, Cache(cache), self._flush)
        return {"samples_us": list(batch.samples_us), "wall_s": batch.wall_s}

    def forget(self) -> dict[str, Any]:
        self._graphs.clear()
        self._inputs.clear()
        torch.cuda.empty_cache()
        return {}

    def _staged(self, baseline: str, draws: dict[str, Any]) -> dict[int, Callable[[], object]]:
        calls = {}
        for key, data in draws.items():
            draw: Draw = decode(Draw, data)
            self._inputs.append(scenario(self._task, draw, "cuda"))
            calls[int(key)] = self._call(baseline, draw, self._inputs[-1])
        return calls

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


def allow_tf32(allowed: bool) -> None:
    """The same precision for everybody: what the task allows, no more."""
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def _without_grad(called: Function, arguments: list[Any]) -> object:
    with torch.no_grad():
        return called(*arguments)


def _gradients(found: list[torch.Tensor], leaves: list[torch.Tensor], given: Scenario) -> object:
    flowing = [tensor for tensor in found if tensor.requires_grad]
    return torch.autograd.grad(flowing, leaves, given.gradients, retain_graph=True, allow_unused=True)


def main(connection: Connection) -> None:
    serve(connection, Rival, _told)


def _told(error: Exception) -> dict[str, Any]:
    """A baseline that fails is reported as absent, never as fast."""
    return {"call": "baseline", "error": type(error).__name__, "message": str(error)[:2000]}
