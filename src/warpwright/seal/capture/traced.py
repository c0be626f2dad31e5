"""The types of a trace: the operations of one call of an entry point, with addresses and code positions of its
process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from warpwright.core.launch.plan import Constant, Copy, Fill, Library, Memset, Triple, View

RETAINED = "retained"
"""The origin of memory that an earlier call allocated and the host code retained. No plan has such a buffer."""


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
    KIND: ClassVar[str] = "launch"
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
class TracedUpload:
    KIND: ClassVar[str] = "upload"
    buffer: int
    offset: int
    data: str


TracedNode = TracedLaunch | Fill | Memset | TracedUpload | Copy | Library
"""Nodes of a trace; those without addresses and code positions are types of a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    code: int
    name: str
    value: int
    node: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query whose answer depends on a kernel's registers."""

    name: str
    code: int
    block: int = 0
    shared: int = 0
    known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The trace of one call, with addresses and code positions of the capture process."""

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
        if isinstance(node, Fill):
            found.append(node.target)
        elif isinstance(node, Library):
            found += [*node.inputs, *node.outputs]
    return [view for view in found if isinstance(view, View)]
