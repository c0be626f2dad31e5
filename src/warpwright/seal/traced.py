"""The words of a trace: what one call of an entry point did, with addresses and code positions of its own process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from warpwright.core.plan import Constant, Triple, View

RETAINED = "retained"
"""The origin of memory that an earlier call allocated and the host code kept. No plan has such a buffer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedBuffer:
    base: int
    bytes: int
    origin: str
    symbol: int | None = None
    born: int = 0
    freed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedLaunch:
    OP: ClassVar[str] = "launch"
    code: int
    grid: Triple
    block: Triple
    cluster: Triple = (1, 1, 1)
    shared: int = 0
    cooperative: bool = False
    attributes: Mapping[str, int] = field(default_factory=dict)
    stream: int = 0
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedFill:
    OP: ClassVar[str] = "fill"
    target: View
    value: bool | int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedMemset:
    OP: ClassVar[str] = "memset"
    buffer: int
    offset: int
    bytes: int
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedUpload:
    OP: ClassVar[str] = "upload"
    buffer: int
    offset: int
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCopy:
    OP: ClassVar[str] = "copy"
    source: int
    source_offset: int
    target: int
    target_offset: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedLibrary:
    OP: ClassVar[str] = "library"
    operation: str
    inputs: tuple[View | Constant | None, ...]
    outputs: tuple[View, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


TracedNode = TracedLaunch | TracedFill | TracedMemset | TracedUpload | TracedCopy | TracedLibrary


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    code: int
    name: str
    value: int
    node: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question whose answer depends on a kernel's registers."""

    name: str
    code: int
    block: int = 0
    shared: int = 0
    known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What one call did. Addresses and code positions are still the capture's own."""

    outcome: str
    what: str = ""
    message: str = ""
    buffers: tuple[TracedBuffer, ...] = ()
    nodes: tuple[TracedNode, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    queries: tuple[Query, ...] = ()
    arguments: tuple[View, ...] = ()
    returns: tuple[View | Constant | None, ...] = ()
    entries: tuple[str, ...] = ()


def views(trace: Trace) -> list[View]:
    """Every window on a buffer that the trace speaks of."""
    found: list[View | Constant | None] = [*trace.arguments, *trace.returns]
    for node in trace.nodes:
        if isinstance(node, TracedFill):
            found.append(node.target)
        elif isinstance(node, TracedLibrary):
            found += [*node.inputs, *node.outputs]
    return [view for view in found if isinstance(view, View)]
