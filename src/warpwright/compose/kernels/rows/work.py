"""The work of a group over rows: its reductions, its stores, and the order of its rows."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.compose.ir.operations import REDUCTIONS
from warpwright.compose.ir.tensors import Store
from warpwright.compose.ir.values import Value
from warpwright.compose.kernels.rows.reads import RowReads
from warpwright.compose.kernels.rows.row import Rows
from warpwright.compose.kernels.site import Site
from warpwright.compose.schedule.groups import reachable


def rows_of(site: Site, name: str = "") -> Rows:
    """For a kernel of that name."""
    space, rest, count = site.space, site.other_stores, site.graph.numel
    full = [store for store in rest if count(store.value) == space.rows * space.columns and not _is_number(store, site)]
    roots = [*(store.value for store in rest), *(store.value.first for store in site.column_sums)]
    return Rows(
        name=name,
        comment=site.comment,
        rows=space.rows,
        columns=space.columns,
        reductions=tuple(value for value in reachable(roots, site.held) if value.op in REDUCTIONS),
        row_stores=tuple(store for store in rest if store not in full),
        stores=tuple(full),
        column_sums=tuple((store.value, store.tensor.name) for store in site.column_sums),
        backwards=_are_read_again(roots, site),
    )


def row_reads(site: Site) -> RowReads:
    """What the passes over its rows read."""
    return site.once("row reads", lambda: RowReads(rows_of(site), site.graph, site.held))


def _is_number(store: Store, site: Site) -> bool:
    """Rows of one column are no rows: one number each, unless nothing was reduced for it."""
    return site.graph.numel(store.value) == site.space.rows and store.value.op in REDUCTIONS


def _are_read_again(roots: Sequence[Value], site: Site) -> bool:
    """Whether another kernel of the entry point has read the rows."""
    given = {arg.number for value in reachable(roots, site.held) for arg in value.args if arg.number in site.held}
    count, product = site.space.rows * site.space.columns, site.graph.cases.product
    tensors = [site.held[number] for number in given]
    return any(tensor.name in site.read_before and product(tensor.shape) == count for tensor in tensors)
