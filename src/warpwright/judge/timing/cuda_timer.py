"""Measures device time of captured work: CUDA events around graph replays, with a cold or warm cache, and their own
cost.

The candidate's process and the baseline processes share this code, so that both sides are timed alike. Cold means that
no data of a call is in L2; warm means that the judge has just read its inputs. No call runs twice on the same contents,
so that none can profit from an earlier one.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch

from warpwright.core.records.measurement import Cache
from warpwright.judge.gpu import driver
from warpwright.judge.gpu.free_memory import make_room

Step = Callable[[], object]
"""Work to be captured. What it returns is kept while it is captured, and may be `Deferred`."""


@runtime_checkable
class Deferred(Protocol):
    """Results that are copied to where they are checked after the timed window."""

    def deliver(self) -> None:
        """Copies them."""


class Flush:
    """Evicts L2: writes three times its size and reads it back, which leaves no dirty lines."""

    def __init__(self) -> None:
        size = 3 * torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
        self._buffer = torch.ones(max(size, 64 << 20) // 4, dtype=torch.int32, device="cuda")
        self._sink = torch.zeros((), dtype=torch.int64, device="cuda")

    def __call__(self) -> None:
        self._buffer.add_(1)
        torch.sum(self._buffer, dim=0, dtype=torch.int64, out=self._sink)

    def prelude(self, cache: Cache, inputs: Sequence[torch.Tensor]) -> Step:
        """Returns the step before a call: flushes L2 and, for a warm cache, reads the inputs again."""
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
    """Views a tensor's memory as int64, less a tail too small to matter."""
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
        """The stream of all captures. Autograd runs on the stream where a tensor was made, so inputs must be made on
        this one.
        """
        self._calls: dict[Hashable, Sequence[Step]] = {}
        self._inputs: dict[Hashable, Sequence[torch.Tensor]] = {}
        self._graphs: dict[Hashable, Captured] = {}

    def capture(self, key: Hashable, calls: Sequence[Step], inputs: Sequence[torch.Tensor]) -> None:
        """Captures one call, which may have several steps."""
        self._calls[key], self._inputs[key], self._graphs[key] = calls, inputs, captured(calls, self.stream)

    def capture_part(self, key: Hashable, calls: Sequence[Step], of: Hashable) -> None:
        """Captures part of a call that has been captured already."""
        self.capture(key, calls, self._inputs[of])

    def chain(self, key: Hashable, calls: Sequence[Hashable], warm: bool, work: bool) -> None:
        """Captures many calls in one graph, or with `work` false only the reads that precede them.

        Every call has its own memory, which is cold after the flush before the graph; for a warm cache it is read
        first.
        """
        steps: list[Step] = []
        for call in calls:
            steps += [self._flush.reader(self._inputs[call])] if warm else []
            steps += self._calls[call] if work else []
        self._graphs[key] = captured(steps, self.stream, warm_ups=0)

    def time(self, keys: Sequence[Hashable | None], cache: Cache, reset: Step = lambda: None) -> list[float]:
        """Device times in microseconds. The key None stands for no work and gives the cost of measuring."""
        takes = [
            (self._flush.prelude(cache, self._inputs.get(key, ())), None if key is None else self._graphs[key])
            for key in keys
        ]
        return time_replays(takes, reset)

    def median_us(self, call: Step, calls: int) -> float:
        """The median cold time of a call that has not been captured."""
        graph = captured([call], self.stream)
        return statistics.median(time_replays([(self._flush, graph)] * calls, lambda: None))

    def replay_all(self, keys: Sequence[Hashable]) -> None:
        """Replays all graphs back to back, to be measured by a wall clock outside."""
        for key in keys:
            self._graphs[key].graph.replay()
        torch.cuda.synchronize()

    def forget(self) -> None:
        for kept in (self._graphs, self._calls, self._inputs):
            kept.clear()


def captured(calls: Sequence[Step], stream: torch.cuda.Stream, warm_ups: int = 2) -> Captured:
    """Captures the calls in one graph, in order, each with its own results.

    torch's context manager is not used: it collects garbage every time, which takes longer than the capture.
    """
    graph = torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for call in [*calls] * warm_ups:
            call()
        stream.synchronize()
        make_room()  # the graph allocates from a pool of its own
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            results = [call() for call in calls]
        finally:
            graph.capture_end()
    torch.cuda.current_stream().wait_stream(stream)
    return Captured(graph, tuple(result for result in results if isinstance(result, Deferred)))


def time_replays(takes: Sequence[tuple[Step, Captured | None]], reset: Step) -> list[float]:
    """Replays every graph once, in order, each after its prelude. Deferred results are copied outside the timing.

    A call may have marked L2 lines as persisting, also lines that the next call reads. They are reset before every
    prelude, which runs long enough for the work after it to be queued meanwhile.
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
