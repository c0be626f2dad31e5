"""Device time of captured work: events around graph replays, cold or warm, with what the events themselves cost.

Shared by the cell (candidate kernels) and the rival (torch baselines), so that both are timed by the same lines.
Cold means that nothing of a call is in L2; warm that its inputs have just been read, by us: no call is ever made twice
on the same contents, so that none can profit from another.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch

from warpwright.core.records.measurement import Cache
from warpwright.judge.gpu import driver

Step = Callable[[], object]
"""Work to be captured. What it returns is kept while it is captured, and may be `Deferred`."""


@runtime_checkable
class Deferred(Protocol):
    """Results that are copied to where they are checked after the timed window."""

    def deliver(self) -> None:
        """Copies them."""


class Flush:
    """Pushes everything out of L2: writes three times its size, then reads it, so that no dirty lines are left."""

    def __init__(self) -> None:
        size = 3 * torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
        self._buffer = torch.ones(max(size, 64 << 20) // 4, dtype=torch.int32, device="cuda")
        self._sink = torch.zeros((), dtype=torch.int64, device="cuda")

    def __call__(self) -> None:
        self._buffer.add_(1)
        torch.sum(self._buffer, dim=0, dtype=torch.int64, out=self._sink)

    def prelude(self, cache: Cache, inputs: Sequence[torch.Tensor]) -> Step:
        """What comes before a call, so that its inputs are where they are said to be."""
        read = self.reader(inputs if cache is Cache.WARM else ())

        def prepared() -> None:
            self()
            read()

        return prepared

    def reader(self, inputs: Sequence[torch.Tensor]) -> Step:
        words = [words for tensor in inputs if (words := _as_words(tensor)).numel()]

        def read() -> None:
            for item in words:
                torch.sum(item, dim=0, out=self._sink)

        return read


def _as_words(memory: torch.Tensor) -> torch.Tensor:
    """Eight bytes at a time, less a tail too small to matter."""
    flat = memory.untyped_storage()
    start = memory.storage_offset() * memory.element_size()
    held = sum((size - 1) * stride for size, stride in zip(memory.shape, memory.stride(), strict=True)) + 1
    first, end = -(-start // 8), (start + held * memory.element_size()) // 8
    empty = torch.empty(0, dtype=torch.int64, device=memory.device)
    return empty.set_(flat, first, (max(end - first, 0),), (1,)) if memory.numel() else empty


@dataclass(frozen=True, slots=True)
class Captured:
    """A CUDA graph of one or more calls."""

    graph: torch.cuda.CUDAGraph
    deferred: tuple[Deferred, ...]

    def deliver(self) -> None:
        for results in self.deferred:
            results.deliver()


class CudaTimer:
    """Captured calls by key, with the memory that each reads as inputs: graphs hold addresses, not tensors."""

    def __init__(self) -> None:
        self._flush = Flush()
        self.stream = torch.cuda.Stream()
        """All of it is captured on this one. Autograd works on the stream that a tensor was made on: make it there."""
        self._calls: dict[Hashable, Sequence[Step]] = {}
        self._inputs: dict[Hashable, Sequence[torch.Tensor]] = {}
        self._graphs: dict[Hashable, Captured] = {}

    def capture(self, key: Hashable, calls: Sequence[Step], inputs: Sequence[torch.Tensor]) -> None:
        """Captures one call, which may be several steps."""
        self._calls[key], self._inputs[key], self._graphs[key] = calls, inputs, captured(calls, self.stream)

    def capture_part(self, key: Hashable, calls: Sequence[Step], of: Hashable) -> None:
        """Captures a part of a call that is held already."""
        self.capture(key, calls, self._inputs[of])

    def chain(self, key: Hashable, calls: Sequence[Hashable], warm: bool, work: bool) -> None:
        """Captures many held calls in one graph, or what precedes each without the work.

        Every call has memory of its own, which is cold after the flush before the graph; to be warm it is read first.
        """
        steps: list[Step] = []
        for call in calls:
            steps += [self._flush.reader(self._inputs[call])] if warm else []
            steps += self._calls[call] if work else []
        self._graphs[key] = captured(steps, self.stream, warm_ups=0)

    def time(self, keys: Sequence[Hashable | None], cache: Cache, reset: Step = lambda: None) -> list[float]:
        """Device times in microseconds; None is no work at all: what measuring itself costs."""
        takes = [
            (self._flush.prelude(cache, self._inputs.get(key, ())), None if key is None else self._graphs[key])
            for key in keys
        ]
        return time_replays(takes, reset)

    def median_us(self, call: Step, calls: int) -> float:
        """Of one call that is not held, when cold: the median of so many."""
        graph = captured([call], self.stream)
        return statistics.median(time_replays([(self._flush, graph)] * calls, lambda: None))

    def replay_all(self, keys: Sequence[Hashable]) -> None:
        """All of them with nothing in between, for a wall clock outside."""
        for key in keys:
            self._graphs[key].graph.replay()
        torch.cuda.synchronize()

    def forget(self) -> None:
        for kept in (self._graphs, self._calls, self._inputs):
            kept.clear()


def captured(calls: Sequence[Step], stream: torch.cuda.Stream, warm_ups: int = 2) -> Captured:
    """One graph that makes the given calls one after the other, each with results of its own.

    Not by torch's own context manager, which collects garbage every time: that takes longer than the capture.
    """
    graph = torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for call in [*calls] * warm_ups:
            call()
        stream.synchronize()
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            results = [call() for call in calls]
        finally:
            graph.capture_end()
    torch.cuda.current_stream().wait_stream(stream)
    return Captured(graph, tuple(result for result in results if isinstance(result, Deferred)))


def time_replays(takes: Sequence[tuple[Step, Captured | None]], reset: Step) -> list[float]:
    """Every graph once, in order, each after its lead; deferred results are delivered outside the timed window.

    A call may have marked lines of the cache to stay there, also such as the next one will read. They are let go before
    every lead, which is long enough for all that follows it to be queued meanwhile.
    """
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in takes]
    for (prelude, call), (before, after) in zip(takes, pairs, strict=True):
        torch.cuda.synchronize()
        driver.call("cuCtxResetPersistingL2Cache")
        prelude()
        reset()
        before.record()
        if call is not None:
            call.graph.replay()
        after.record()
        if call is not None:
            call.deliver()
    torch.cuda.synchronize()
    return [before.elapsed_time(after) * 1e3 for before, after in pairs]
