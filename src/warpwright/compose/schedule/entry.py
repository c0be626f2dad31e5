"""Entry points: parameters, results and schedule of each exported function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph, Value
from warpwright.compose.schedule.groups import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """A size that is often 1, and the function specialised for it."""

    size: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One exported function: its C++ parameters, its inputs and its results."""

    name: str
    graph: Graph
    parameters: tuple[tuple[str, str], ...]
    """The types and names, in order."""
    inputs: Mapping[int, Tensor]
    places: Mapping[str, str]
    """The expression that reads each size."""
    outputs: tuple[Store, ...]
    returned: tuple[Tensor, ...]
    views: Mapping[str, Value]
    """The results that are views of a library call's result, by name."""
    contiguous: tuple[str, ...] = ()
    """Arguments that may arrive in any layout."""
    schedule: Schedule
    single: Single | None = None
    is_exported: bool = True
