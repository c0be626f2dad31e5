"""The launch plan: what a candidate's host code did for one case, as plain data.

Host code runs once in a sandbox on tensors without contents; every effect it had is a node here. A judge gives the
plan buffers of its own and replays it; nothing of the host code is needed any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

Triple = tuple[int, int, int]


class Origin(StrEnum):
    ARGUMENT = "argument"
    SCRATCH = "scratch"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A piece of device memory the plan needs. Arguments come first, in order."""

    bytes: int
    origin: Origin
    symbol: str | None = None
    """A `__device__` or `__constant__` variable, by demangled name."""
    last_use: int | None = None
    """The node after which it may be freed; None keeps it to the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A tensor as a window on a buffer."""

    buffer: int
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocation:
    """Eight bytes of an argument that hold an address: buffer base + addend."""

    argument: int
    offset: int
    buffer: int
    addend: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    KIND: ClassVar[str] = "launch"
    kernel: str
    """Demangled name and signature, which nvcc and the host compiler agree on."""
    grid: Triple
    block: Triple
    cluster: Triple = (1, 1, 1)
    shared: int = 0
    cooperative: bool = False
    arguments: tuple[bytes, ...] = ()
    relocations: tuple[Relocation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    KIND: ClassVar[str] = "fill"
    target: View
    value: float | int | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Memset:
    KIND: ClassVar[str] = "memset"
    buffer: int
    offset: int
    bytes: int
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Bytes of the host, such as a table of constants, copied to the device; pointers in them are relocated."""

    KIND: ClassVar[str] = "upload"
    buffer: int
    offset: int
    data: bytes
    relocations: tuple[Relocation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    KIND: ClassVar[str] = "copy"
    source: int
    source_offset: int
    target: int
    target_offset: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """An operation of torch or cuBLAS that the judge executes itself; its share of the time is reported."""

    KIND: ClassVar[str] = "library"
    operation: str
    inputs: tuple[View | None, ...]
    outputs: tuple[View, ...]
    options: dict[str, Any]


Node = Launch | Fill | Memset | Upload | Copy | Library


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything one call of one entry point does on the device, in order."""

    entry: str
    case: str
    buffers: tuple[Buffer, ...]
    arguments: tuple[View | None, ...]
    nodes: tuple[Node, ...]
    returns: tuple[View | None, ...]
    attributes: dict[str, dict[str, int]]
    """Per kernel: dynamic shared memory limit, carve-out, and so on, as set by the host code."""
