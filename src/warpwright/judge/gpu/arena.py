"""Device memory shared by two processes: the process that runs candidate kernels owns it, the judge maps it.

Everything that a call touches lies in its slot of the arena, every buffer between two red zones. The mapping goes one
way: the candidate's process cannot reach the judge's own memory.
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
"""The poison byte: every floating type reads it as NaN, every signed integer as -1."""
_POISONED = -1
"""Eight poison bytes as one int64."""


class _Handle(ctypes.Structure):
    _fields_ = (("bytes", c_char * 64),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Offset and size of one buffer in the arena."""

    offset: int
    size: int


@dataclass(slots=True, kw_only=True)
class Layout:
    """A bump allocator of places with red zones; the same requests give the same layout."""

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
    """Memory addressed by byte offset: a tensor of bytes."""

    def __init__(self, memory: torch.Tensor) -> None:
        self.bytes = memory

    @classmethod
    def allocate(cls, size: int) -> Arena:
        """Allocates memory outside torch's allocator, so that a whole allocation can be shared."""
        address = c_void_p()
        driver.call("cuMemAlloc_v2", byref(address), c_size_t(size))
        return cls(device_memory(address.value or 0, size))

    @classmethod
    @contextmanager
    def mapped(cls, handle: bytes, size: int) -> Iterator[Arena]:
        """Maps the memory of another process. The driver frees it only after it has been unmapped."""
        address, shared = c_void_p(), _Handle()
        ctypes.memmove(byref(shared), handle, 64)
        torch.cuda.current_stream().synchronize()
        driver.library().cuIpcOpenMemHandle_v2.argtypes = (c_void_p, _Handle, ctypes.c_uint)
        driver.call("cuIpcOpenMemHandle_v2", byref(address), shared, 1)
        try:
            yield cls(device_memory(address.value or 0, size))
        finally:
            driver.call("cuIpcCloseMemHandle", address)

    def handle(self) -> bytes:
        shared = _Handle()
        driver.call("cuIpcGetMemHandle", byref(shared), c_void_p(self.bytes.data_ptr()))
        return bytes(bytearray(shared))

    def at(self, place: Place) -> torch.Tensor:
        return self.bytes[place.offset : place.offset + place.size]

    def tensor(
        self, place: Place, offset: int, shape: tuple[int, ...], stride: tuple[int, ...], dtype: torch.dtype
    ) -> torch.Tensor:
        """Returns a strided view of a place; strides are in elements, the offset in bytes."""
        empty = torch.empty(0, dtype=dtype, device=self.bytes.device)
        first = (place.offset + offset) // empty.element_size()
        return empty.set_(self.bytes.untyped_storage(), first, shape, stride)

    def reset(self, red_zones: torch.Tensor, pattern: int) -> None:
        """Fills everything with poison and the red zones with a pattern."""
        self.bytes.fill_(POISON)
        self.bytes.index_fill_(0, red_zones, pattern)

    def damaged_anywhere(self, red_zones: torch.Tensor, pattern: int) -> bool:
        return bool((self.bytes[red_zones] != pattern).any())

    def wrote_elsewhere(self, places: Iterable[Place], red_zones: torch.Tensor) -> bool:
        """Whether any byte outside the given places was written, however far away. Overwrites these places and the red
        zones.
        """
        for place in places:
            self.at(place).fill_(POISON)
        self.bytes.index_fill_(0, red_zones, POISON)
        return bool((self.bytes.view(torch.int64) != _POISONED).any())

    def damaged(self, places: Iterable[Place], pattern: int) -> list[tuple[Place, int]]:
        """Lists the damaged red zones with the distance of the first damaged byte from the buffer's edge."""
        zones = list(_red_zones(places))
        wrong = torch.stack([(self.at(zone) != pattern).any() for zone in zones]).tolist()
        return [
            (zone, int((self.at(zone) != pattern).nonzero()[0])) for zone, bad in zip(zones, wrong, strict=True) if bad
        ]


def red_zone_bytes(places: Iterable[Place], device: str = "cuda") -> torch.Tensor:
    """Returns the offset of every byte of the red zones."""
    starts = torch.tensor([zone.offset for zone in _red_zones(places)], dtype=torch.int64, device=device)
    return (starts[:, None] + torch.arange(RED_ZONE, device=device)).flatten()


def device_memory(address: int, size: int) -> torch.Tensor:
    """Returns memory that torch did not allocate as a tensor of bytes, without a copy."""
    return torch.as_tensor(_Window(address, size), device="cuda")


class _Window:
    """Describes memory that torch did not allocate, by the CUDA array interface."""

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
