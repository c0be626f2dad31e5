"""Device time of captured work: events around graph replays, cold or warm, with what the events themselves cost.

Shared by the cell (candidate kernels) and the rival (torch baselines), so that both are timed by the same lines.
Cold means that nothing of a call is in L2; warm that its inputs have just been read, by us: no call is ever made twice
on the same contents, so that none can profit from another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from warpwright.core.measurement import Cache
from warpwright.judge import driver

Step = Callable[[], object]


class Flush:
    """Pushes everything out of L2: writes three times its size, then reads it, so that no dirty lines are left."""

    def __init__(self) -> None:
        size = 3 * torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
        self._buffer = torch.ones(max(size, 64 << 20) // 4, dtype=torch.int32, device="cuda")
        self._sink = torch.zeros((), dtype=torch.int64, device="cuda")

    def __call__(self) -> None:
        self._buffer.add_(1)
        torch.sum(self._buffer, dim=0, dtype=torch.int64, out=self._sink)

    def lead(self, cache: Cache, inputs: Sequence[torch.Tensor]) -> Step:
        """What comes before a call, so that its inputs are where they are said to be."""
        words = [words for tensor in inputs if (words := _as_words(tensor)).numel()] if cache is Cache.WARM else []

        def prepared() -> None:
            self()
            for item in words:
                torch.sum(item, dim=0, out=self._sink)

        return prepared


def _as_words(memory: torch.Tensor) -> torch.Tensor:
    """Eight bytes at a time, less a tail too small to matter."""
    flat = memory.untyped_storage()
    start = memory.storage_offset() * memory.element_size()
    held = sum((size - 1) * stride for size, stride in zip(memory.shape, memory.stride(), strict=True)) + 1
    first, end = -(-start // 8), (start + held * memory.element_size()) // 8
    empty = torch.empty(0, dtype=torch.int64, device=memory.device)
    return empty.set_(flat, first, (max(end - first, 0),), (1,)) if memory.numel() else empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Raw device times in microseconds, and the wall clock around all of them."""

    samples_us: tuple[float, ...]
    wall_s: float


def captured(calls: Sequence[Step], warm_ups: int = 2) -> torch.cuda.CUDAGraph:
    """One graph that makes the given calls one after the other.

    Not by torch's own context manager, which collects garbage every time: that takes longer than the capture.
    """
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for call in [*calls] * warm_ups:
            call()
        stream.synchronize()
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            for call in calls:
                call()
        finally:
            graph.capture_end()
    torch.cuda.current_stream().wait_stream(stream)
    return graph


def replay_back_to_back(graphs: Sequence[torch.cuda.CUDAGraph]) -> None:
    """All of them with nothing in between, for a wall clock outside."""
    for graph in graphs:
        graph.replay()
    torch.cuda.synchronize()


def time_replays(
    takes: Sequence[tuple[Step, torch.cuda.CUDAGraph | None]], reset: Callable[[], object] = lambda: None
) -> Batch:
    """Every graph once, in order, each after its lead. None is no work at all: what measuring itself costs."""
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in takes]
    torch.cuda.synchronize()
    driver.call("cuCtxResetPersistingL2Cache")
    start = time.perf_counter()
    for (lead, graph), (before, after) in zip(takes, pairs, strict=True):
        lead()
        reset()
        before.record()
        if graph is not None:
            graph.replay()
        after.record()
    torch.cuda.synchronize()
    wall = time.perf_counter() - start
    return Batch(samples_us=tuple(before.elapsed_time(after) * 1e3 for before, after in pairs), wall_s=wall)
