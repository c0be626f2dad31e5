"""Peak device memory of one call: what torch's allocator gave out, and the buffers of plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from warpwright.judge.gpu.replay import Replayed


def torch_peak_bytes(call: Callable[[], object]) -> int:
    """Runs a call and returns how much more memory torch's allocator held at its peak than before."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    results = call()
    torch.cuda.synchronize()
    del results
    return torch.cuda.max_memory_allocated() - before


def peak_bytes(entries: Sequence[Callable[[], Replayed]]) -> int:
    """Runs the entries of a candidate's call and returns the memory it needs beyond its inputs, results included.

    An upper bound where a call mixes kernels and library operations, whose peaks need not coincide.
    """
    done: list[Replayed] = []
    from_torch = torch_peak_bytes(lambda: done.extend(entry() for entry in entries))
    return from_torch + planned_peak_bytes(done)


def planned_peak_bytes(done: Sequence[Replayed]) -> int:
    """The peak over entries that run one after the other, each beside what the ones before it returned."""
    before, most = 0, 0
    for replayed in done:
        most = max(most, before + replayed.peak_bytes)
        before += replayed.live_bytes
    return most
