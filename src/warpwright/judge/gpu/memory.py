"""Device memory of a plan: buffers by number, tensors as views of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from warpwright.core.dtypes import dtype_named
from warpwright.core.launch.plan import Buffer, Constant, Origin, View

Allocate = Callable[[int, int], torch.Tensor]
"""Allocates a flat uint8 tensor for a buffer, given its number and its size in bytes."""


def plain(buffer: int, size: int) -> torch.Tensor:
    return torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")


class Memory:
    """The buffers of one call: arguments of the caller, symbols of the module, scratch allocated at its first use."""

    def __init__(
        self,
        buffers: Sequence[Buffer],
        arguments: Sequence[torch.Tensor],
        symbol: Callable[[str], int | None],
        allocate: Allocate = plain,
        returned: frozenset[int] = frozenset(),
        defer: bool = False,
    ) -> None:
        self._buffers, self._symbol, self._allocate, self._returned = buffers, symbol, allocate, returned
        self._held: dict[int, torch.Tensor] = dict(enumerate(arguments))
        self._defer = defer
        """Whether a returned library result may stay in torch's memory until `deliver`."""
        self._deferred: dict[int, tuple[View, torch.Tensor]] = {}
        self.live_bytes = self.peak_bytes = 0
        """Bytes of buffers allocated here, now and at most; results in torch's own memory do not count."""
        self._allocated: set[int] = set()

    def address(self, buffer: int) -> int:
        described = self._buffers[buffer]
        if described.origin is Origin.SYMBOL:
            place = self._symbol(described.symbol or "")
            if place is not None:  # a variable that no kernel uses is absent from the cubin; scratch memory replaces it
                return place
        return self._storage(buffer).data_ptr()

    def tensor(self, view: View) -> torch.Tensor:
        """Returns a view of a buffer that shares its memory."""
        return _window(self._storage(view.buffer), view)

    def fixed(self, buffer: int) -> bool:
        """Whether the buffer has its address already, or is read at the address the caller gave it."""
        return buffer in self._held or buffer in self._returned

    def adopt(self, view: View, result: torch.Tensor) -> bool:
        """Uses a library result as the buffer, where the view covers all of a buffer that was never touched."""
        whole = view.offset == 0 and result.numel() * result.element_size() == self._buffers[view.buffer].bytes
        deferring = self._defer and view.buffer in self._returned and view.buffer not in self._held
        if (self.fixed(view.buffer) and not deferring) or not whole or result.stride() != view.stride:
            return False
        self._held[view.buffer] = result
        if deferring:
            self._deferred[view.buffer] = (view, result)
        return True

    def deliver(self) -> None:
        """Copies deferred results to the addresses the caller gave their buffers."""
        for number, (view, result) in self._deferred.items():
            _window(self._allocate(number, self._buffers[number].bytes), view).copy_(result)

    def release(self, finished: int) -> None:
        """Releases scratch buffers whose last use was the given node."""
        for number in [n for n in self._held if self._buffers[n].last_use == finished]:
            if self._buffers[number].origin is Origin.SCRATCH:
                del self._held[number]
                if number in self._allocated:
                    self.live_bytes -= self._buffers[number].bytes

    def _storage(self, buffer: int) -> torch.Tensor:
        if buffer not in self._held:
            size = self._buffers[buffer].bytes
            self._held[buffer] = self._allocate(buffer, size)
            self._allocated.add(buffer)
            self.live_bytes += size
            self.peak_bytes = max(self.peak_bytes, self.live_bytes)
        return self._held[buffer]


def _window(storage: torch.Tensor, view: View) -> torch.Tensor:
    dtype = getattr(torch, dtype_named(view.dtype).torch)
    start = storage.storage_offset() * storage.element_size() + view.offset
    empty = torch.empty(0, dtype=dtype, device=storage.device)
    return empty.set_(storage.untyped_storage(), start // empty.element_size(), view.shape, view.stride)


def constant(value: Constant) -> torch.Tensor:
    """Builds a tensor that host code made on the CPU."""
    dtype = getattr(torch, dtype_named(value.dtype).torch)
    flat = torch.frombuffer(bytearray(value.data), dtype=dtype) if value.data else torch.empty(0, dtype=dtype)
    return torch.as_strided(flat, value.shape, value.stride)
