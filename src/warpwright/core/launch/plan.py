"""The launch plan: what a candidate's host code did for one case, as plain data.

Host code runs once in a sandbox, on tensors without contents; each of its effects is a node here. A judge allocates the
buffers of a plan and replays it; host code is not needed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

Triple = tuple[int, int, int]


class Origin(StrEnum):
    ARGUMENT = "argument"
    SCRATCH = "scratch"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A piece of device memory. Arguments come first, in order."""

    bytes: int
    origin: Origin
    symbol: str | None = None
    """The demangled name of a `__device__` or `__constant__` variable."""
    last_use: int | None = None
    """The node after which the buffer may be freed; None keeps it to the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A tensor as a view of a buffer: offset in bytes, strides in elements."""

    KIND: ClassVar[str] = "view"
    buffer: int
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A small tensor that host code made on the CPU, with its elements."""

    KIND: ClassVar[str] = "constant"
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocation:
    """Eight bytes that hold an address: buffer base plus addend."""

    argument: int = 0
    """The launch argument that contains them; 0 for an upload."""
    offset: int
    buffer: int
    addend: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One kernel of a cubin, as reported by the assembler."""

    name: str
    """The demangled name and signature, by which launches refer to the kernel."""
    symbol: str
    """The symbol in the cubin."""
    parameters: tuple[int, ...]
    """The size in bytes of each parameter; a launch must pass exactly these."""
    registers: int | None = None
    stack: int | None = None
    spill_stores: int | None = None
    spill_loads: int | None = None
    static_shared: int = 0
    max_threads: int | None = None
    """The bound of `__launch_bounds__`."""
    cluster: Triple | None = None
    """The cluster size of `__cluster_dims__`."""
    module: int = 0
    """The cubin that it is in: the first, or one of the further ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    KIND: ClassVar[str] = "launch"
    kernel: str
    """The demangled name and signature, on which nvcc and the host compiler agree."""
    grid: Triple
    block: Triple
    cluster: Triple = (1, 1, 1)
    shared: int = 0
    cooperative: bool = False
    attributes: Mapping[str, int] = field(default_factory=dict)
    """Further launch attributes by name."""
    stream: int = 0
    """0 is the current stream; others are streams that the host code created."""
    arguments: tuple[bytes, ...] = ()
    relocations: tuple[Relocation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    KIND: ClassVar[str] = "fill"
    target: View
    value: bool | int | float


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
    inputs: tuple[View | Constant | None, ...]
    outputs: tuple[View, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


Node = Launch | Fill | Memset | Upload | Copy | Library


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that one call of one entry point does on the device, in order."""

    entry: str
    case: str
    buffers: tuple[Buffer, ...]
    arguments: tuple[View, ...]
    """The tensor arguments, flattened and in order."""
    nodes: tuple[Node, ...]
    returns: tuple[View | Constant | None, ...]
    attributes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Attributes per kernel that host code set: dynamic shared memory limit, carve-out and others."""
