"""The record of one call of a candidate's Python code: what it did on the device, as plain data.

Code in the sandbox writes records, and code outside reads them as hostile data. Memory is numbered: the tensors that
the call was given come first, in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from warpwright.core.launch.plan import Constant, Fill, Library, Triple, View
from warpwright.core.task import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocate:
    """New memory, of the size that this tensor needs."""

    KIND: ClassVar[str] = "allocate"
    buffer: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    KIND: ClassVar[str] = "scalar"
    value: Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementType:
    KIND: ClassVar[str] = "dtype"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    KIND: ClassVar[str] = "list"
    items: tuple[View | Constant | Scalar | ElementType, ...]


Value = View | Constant | Scalar | ElementType | Listed


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionCall:
    """A call of a function of a C++ extension. Its results are numbered as memory where they are new."""

    KIND: ClassVar[str] = "call"
    extension: int
    function: str
    arguments: tuple[Value, ...]
    keywords: Mapping[str, Value] = field(default_factory=dict)
    results: tuple[View, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """The bytes of an argument that is not an address."""

    KIND: ClassVar[str] = "word"
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLaunch:
    """A launch of a kernel that the Python code compiled itself, such as Triton's."""

    KIND: ClassVar[str] = "kernel"
    kernel: str
    """The key of a CompiledKernel."""
    grid: Triple
    block: Triple
    cluster: Triple = (1, 1, 1)
    shared: int = 0
    cooperative: bool = False
    attributes: Mapping[str, int] = field(default_factory=dict)
    arguments: tuple[View | Word, ...] = ()
    """A view stands for its address."""


Step = Allocate | Fill | Library | ExtensionCall | KernelLaunch


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledKernel:
    """Device code that the Python code compiled itself for the target."""

    name: str
    """The symbol in the cubin."""
    cubin: bytes
    parameters: tuple[int, ...]
    """The size in bytes of each parameter."""
    text: str = ""
    """The intermediate representation that the CPU check interprets."""
    facts: Mapping[str, Plain] = field(default_factory=dict)
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one call did, in order."""

    steps: tuple[Step, ...]
    returns: tuple[View | Constant | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How one call ended, in the words of a capture."""

    outcome: str
    """"captured", "unsupported", "reads_device_data" or "error"."""
    what: str = ""
    message: str = ""
    line: int | None = None
    record: Record | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """The sources of one extension, as the candidate gave them to torch."""

    name: str
    sources: tuple[str, ...]
    functions: tuple[str, ...] = ()
    """The functions to bind; empty if the sources bind them."""
    flags: tuple[str, ...] = ()
