"""One piece of device memory that two processes see: the cell that runs candidate kernels owns it, the judge maps it.

Everything a call touches lies in a slot of it, each buffer between red zones. The mapping goes one way: nothing of the
judge's own memory can be reached from the cell.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ctypes import byref, c_char, c_size_t, c_void_p
from dataclasses import dataclass, field
from typing import Any

import torch

from warpwright.judge.gpu import driver

RED_ZONE = 1024
ALIGNMENT = 512
POISON = 0xFF
"""Every floating type reads this as NaN, every signed integer as -1."""
_POISONED = -1
"""Eight such bytes."""


class _Handle(ctypes.Structure):
    _fields_ = (("bytes", c_char * 64),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one buffer lies."""

    offset: int
    size: int


@dataclass(slots=True, kw_only=True)
class Layout:
    """Hands out places one after the other; two layouts of the same requests agree."""

    used: int = 0
    places: list[Place] = field(default_factory=list)

    def take(self, size: int) -> Place:
        start = _aligned(self.used + RED_ZONE)
        self.used = start + size + RED_ZONE
        self.places.append(Place(offset=start, size=size))
        return self.places[-1]

    @property
    def total(self) -> int:
        return _aligned(self.used + RED_ZONE)


class Arena:
    """Device memory by byte offset."""

    def __init__(self, address: int, size: int) -> None:
        self.address, self.size = address, size
        self.bytes = torch.as_tensor(_Window(address, size), device="cuda")

    @classmethod
    def allocate(cls, size: int) -> Arena:
        """Fresh memory, outside torch's allocator, so that it can be shared whole."""
        address = c_void_p()
        driver.call("cuMemAlloc_v2", byref(address), c_size_t(size))
        return cls(address.value or 0, size)

    @classmethod
    @contextmanager
    def mapped(cls, handle: bytes, size: int) -> Iterator[Arena]:
        """Memory of another process. It is not given back to the GPU while anybody has it mapped."""
        address, shared = c_void_p(), _Handle()
        ctypes.memmove(byref(shared), handle, 64)
        torch.cuda.current_stream().synchronize()
        driver.library().cuIpcOpenMemHandle_v2.argtypes = (c_void_p, _Handle, ctypes.c_uint)
        driver.call("cuIpcOpenMemHandle_v2", byref(address), shared, 1)
        try:
            yield cls(address.value or 0, size)
        finally:
            driver.call("cuIpcCloseMemHandle", address)

    def handle(self) -> bytes:
        shared = _Handle()
        driver.call("cuIpcGetMemHandle", byref(shared), c_void_p(self.address))
        return bytes(bytearray(shared))

    def at(self, place: Place) -> torch.Tensor:
        return self.bytes[place.offset : place.offset + place.size]

    def tensor(
        self, place: Place, offset: int, shape: tuple[int, ...], stride: tuple[int, ...], dtype: torch.dtype
    ) -> torch.Tensor:
        """A strided window on a place; strides in elements, offset in bytes."""
        empty = torch.empty(0, dtype=dtype, device=self.bytes.device)
        first = (place.offset + offset) // empty.element_size()
        return empty.set_(self.bytes.untyped_storage(), first, shape, stride)

    def reset(self, red_zones: torch.Tensor, pattern: int) -> None:
        """Poison everywhere, and the pattern in the red zones."""
        self.bytes.fill_(POISON)
        self.bytes.index_fill_(0, red_zones, pattern)

    def damaged_anywhere(self, red_zones: torch.Tensor, pattern: int) -> bool:
        return bool((self.bytes[red_zones] != pattern).any())

    def wrote_elsewhere(self, places: Iterable[Place], red_zones: torch.Tensor) -> bool:
        """Whether anything was written elsewhere, however far off. The given places and all red zones are emptied."""
        for place in places:
            self.at(place).fill_(POISON)
        self.bytes.index_fill_(0, red_zones, POISON)
        return bool((self.bytes.view(torch.int64) != _POISONED).any())

    def damaged(self, places: Iterable[Place], pattern: int) -> list[tuple[Place, int]]:
        """Red zones that were written to, with the distance from the buffer's edge to the first such byte."""
        zones = list(_red_zones(places))
        wrong = torch.stack([(self.at(zone) != pattern).any() for zone in zones]).tolist()
        return [
            (zone, int((self.at(zone) != pattern).nonzero()[0])) for zone, bad in zip(zones, wrong, strict=True) if bad
        ]


def red_zone_bytes(places: Iterable[Place]) -> torch.Tensor:
    """The offset of every byte that belongs to a red zone."""
    starts = torch.tensor([zone.offset for zone in _red_zones(places)], dtype=torch.int64, device="cuda")
    return (starts[:, None] + torch.arange(RED_ZONE, device="cuda")).flatten()


class _Window:
    """How torch is told of memory that it did not allocate."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__: dict[str, Any] = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 2,
        }


def _red_zones(places: Iterable[Place]) -> Iterable[Place]:
    for place in places:
        yield Place(offset=place.offset - RED_ZONE, size=RED_ZONE)
        yield Place(offset=place.offset + place.size, size=RED_ZONE)


def _aligned(value: int) -> int:
    return -(-value // ALIGNMENT) * ALIGNMENT
