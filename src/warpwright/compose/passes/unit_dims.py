"""Specialises entry points for a dimension of size 1: products with a single row (GEMV, as in decoding), images with a
single channel, and sums over a single large sample.

If a size is 1 in some timed cases and larger in others, the entry point calls a second one, written for size 1. There a
product is a sum along each row of the matrix, fused with the conversion of its elements, which a library call would
need in memory first. A convolution is a few products per element, fused with the next operation. A sum over one sample
is the sample itself, stored by the kernel that reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from warpwright.compose.ir.operations import LibraryCall, Op, Reduced, Routine
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.values import Graph, walk
from warpwright.compose.schedule.entry import Entry, Single
from warpwright.compose.schedule.row_shapes import is_few_and_long


def dim_timed_as_one(graph: Graph) -> tuple[str, str] | None:
    """The name of a size that is 1 in some timed cases but not in all, and a word for it."""
    for size, what in _counts(graph):
        timed = {size.values[position] for position in graph.cases.timed}
        if size.text.isidentifier() and 1 in timed and set(size.values) != {1}:
            return size.text, what
    return None


def _counts(graph: Graph) -> Iterator[tuple[Size, str]]:
    for value in graph.made(Op.LIBRARY):
        match value.attr(LibraryCall).routine:
            case Routine.MM | Routine.ADDMM:
                yield value.args[-2].shape[0], "row"
            case Routine.CONVOLUTION:
                yield value.args[1].shape[1], "channel"
    for value in graph.made(Op.COLUMNS):
        rows, columns = value.first.shape[0], graph.numel(value)
        if value.attrs == Reduced(1) and is_few_and_long(rows, columns, graph.cases, graph.gpu):
            yield rows, "row"


def handed_over(entries: Sequence[Entry], singles: Sequence[Entry], size: str, what: str) -> list[Entry]:
    """The entries, each preceded by its specialised variant if that differs."""
    if not all(map(_are_alike, entries, singles)):
        return list(entries)
    found = []
    for entry, single in zip(entries, singles, strict=True):
        if not _counts_any(entry):
            found.append(entry)
            continue
        name = f"{entry.name}_of_one_{what}"
        found.append(replace(single, name=name, is_exported=False))
        found.append(replace(entry, single=Single(size=size, name=name)))
    return found


def _are_alike(entry: Entry, single: Entry) -> bool:
    """Whether both entries have the same parameters and results; in a training pair they may differ."""
    given = [[(tensor.name, tensor.dtype) for tensor in item.returned] for item in (entry, single)]
    return entry.parameters == single.parameters and given[0] == given[1]


def _counts_any(entry: Entry) -> bool:
    values = walk([store.value for store in entry.outputs])
    return any(value.op in (Op.LIBRARY, Op.COLUMNS) for value in values)
