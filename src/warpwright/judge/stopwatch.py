"""Device time of captured work: events around graph replays, cold or warm, with what the events themselves cost.

Shared by the cell (candidate kernels) and the rival (torch baselines), so that both are timed by the same lines.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from warpwright.core.measurement import Cache

CHAIN_KEY, FLUSH_KEY, WARM_KEY = 1_000_000, 1_000_001, 1_000_002
"""Graphs of many calls with flushes between them, of those flushes alone, and of many calls on one slot."""
WARM_REPEATS = 16
_WARM_UPS = 3


class Flush:
    """Pushes everything out of L2: writes three times its size, then reads it, so that no dirty lines are left."""

    def __init__(self) -> None:
        size = 3 * torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
        self._buffer = torch.ones(max(size, 64 << 20) // 4, dtype=torch.int32, device="cuda")
        self._sink = torch.zeros((), dtype=torch.int64, device="cuda")

    def __call__(self) -> None:
        self._buffer.add_(1)
        torch.sum(self._buffer, dim=0, dtype=torch.int64, out=self._sink)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Raw device times in microseconds, and the wall clock around all of them."""

    samples_us: tuple[float, ...]
    wall_s: float


def captured(calls: Sequence[Callable[[], object]]) -> torch.cuda.CUDAGraph:
    """One graph that makes the given calls one after the other."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(_WARM_UPS):
            for call in calls:
                call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    return graph


def replay_back_to_back(graphs: Sequence[torch.cuda.CUDAGraph]) -> None:
    """All of them with nothing in between, for a wall clock outside."""
    for graph in graphs:
        graph.replay()
    torch.cuda.synchronize()


def time_replays(
    graphs: Sequence[torch.cuda.CUDAGraph | None],
    cache: Cache,
    flush: Flush,
    reset: Callable[[], object] = lambda: None,
) -> Batch:
    """Every graph once, in order. None stands for no work at all: what is measured then is the cost of measuring."""
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in graphs]
    torch.cuda.synchronize()
    start = time.perf_counter()
    for graph, (before, after) in zip(graphs, pairs, strict=True):
        flush()
        if cache is Cache.WARM and graph is not None:
            graph.replay()
        reset()
        before.record()
        if graph is not None:
            graph.replay()
        after.record()
    torch.cuda.synchronize()
    wall = time.perf_counter() - start
    return Batch(samples_us=tuple(before.elapsed_time(after) * 1e3 for before, after in pairs), wall_s=wall)
