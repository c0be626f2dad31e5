"""Device memory of a plan: buffers by number, tensors as windows on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from warpwright.core.dtypes import dtype_named
from warpwright.core.launch.plan import Buffer, Constant, Origin, View

Allocate = Callable[[int, int], torch.Tensor]
"""Gives the device memory for a buffer's number and size in bytes, as a flat uint8 tensor."""


def plain(buffer: int, size: int) -> torch.Tensor:
    return torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")


class Memory:
    """The buffers of one call. Arguments are the caller's, symbols the module's, scratch is made when first touched."""

    def __init__(
        self,
        buffers: Sequence[Buffer],
        arguments: Sequence[torch.Tensor],
        symbol: Callable[[str], int | None],
        allocate: Allocate = plain,
        returned: frozenset[int] = frozenset(),
    ) -> None:
        self._buffers, self._symbol, self._allocate, self._returned = buffers, symbol, allocate, returned
        self._held: dict[int, torch.Tensor] = dict(enumerate(arguments))

    def address(self, buffer: int) -> int:
        described = self._buffers[buffer]
        if described.origin is Origin.SYMBOL:
            place = self._symbol(described.symbol or "")
            if place is not None:  # a variable that no kernel uses is not in the cubin: scratch does as well
                return place
        return self._storage(buffer).data_ptr()

    def tensor(self, view: View) -> torch.Tensor:
        """A window on a buffer, sharing its memory."""
        dtype = getattr(torch, dtype_named(view.dtype).torch)
        storage = self._storage(view.buffer).untyped_storage()
        start = self._storage(view.buffer).storage_offset() * self._storage(view.buffer).element_size() + view.offset
        empty = torch.empty(0, dtype=dtype, device=self._storage(view.buffer).device)
        return empty.set_(storage, start // empty.element_size(), view.shape, view.stride)

    def fixed(self, buffer: int) -> bool:
        """Whether the buffer must be where the caller put it, because somebody looks for it there."""
        return buffer in self._held or buffer in self._returned

    def adopt(self, view: View, result: torch.Tensor) -> bool:
        """Lets a library result be the buffer, where the view is all of a buffer nobody has touched."""
        whole = view.offset == 0 and result.numel() * result.element_size() == self._buffers[view.buffer].bytes
        if self.fixed(view.buffer) or not whole or result.stride() != view.stride:
            return False
        self._held[view.buffer] = result
        return True

    def release(self, finished: int) -> None:
        """Drops the buffers whose last use was this node."""
        for number in [n for n in self._held if self._buffers[n].last_use == finished]:
            if self._buffers[number].origin is Origin.SCRATCH:
                del self._held[number]

    def _storage(self, buffer: int) -> torch.Tensor:
        if buffer not in self._held:
            self._held[buffer] = self._allocate(buffer, self._buffers[buffer].bytes)
        return self._held[buffer]


def constant(value: Constant) -> torch.Tensor:
    """A tensor that host code made on the CPU."""
    dtype = getattr(torch, dtype_named(value.dtype).torch)
    flat = torch.frombuffer(bytearray(value.data), dtype=dtype) if value.data else torch.empty(0, dtype=dtype)
    return torch.as_strided(flat, value.shape, value.stride)
