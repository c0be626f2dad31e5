"""Writes the steps of an entry point: each group of the schedule becomes kernels or a library call."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from warpwright.compose.code.statements import Do, If, Let
from warpwright.compose.code.text import code, joined
from warpwright.compose.cuda import library
from warpwright.compose.cuda.host import Step
from warpwright.compose.cuda.kernel import Written, listed
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir.naming import stem_of
from warpwright.compose.ir.operations import REDUCTIONS, Op, Scanned
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Value
from warpwright.compose.kernels.index.scatter import list_rows_kernel, scatter_kernel
from warpwright.compose.kernels.index.topk import pick_kernel
from warpwright.compose.kernels.index.window import window_kernel
from warpwright.compose.kernels.pointwise.foreach import list_kernel
from warpwright.compose.kernels.pointwise.horizontal_fusion import can_share, side_by_side
from warpwright.compose.kernels.pointwise.map import Elements, elements, map_kernel
from warpwright.compose.kernels.product.steps import ProductWriter
from warpwright.compose.kernels.reduction.columns import ColumnWriter
from warpwright.compose.kernels.reduction.rows_and_columns import fused_kernels
from warpwright.compose.kernels.rows import split as split_kernel
from warpwright.compose.kernels.rows.block import resident_kernels
from warpwright.compose.kernels.rows.cluster import cluster_kernels
from warpwright.compose.kernels.rows.cooperative import grid_kernels
from warpwright.compose.kernels.rows.gemv import across_kernels
from warpwright.compose.kernels.rows.launch import row_kernels
from warpwright.compose.kernels.rows.row import Rows
from warpwright.compose.kernels.scan.scan import Way, scan_kernel
from warpwright.compose.schedule.groups import COLUMNS, ELEMENTS, ROWS, Group, Space, reachable
from warpwright.compose.schedule.row_shapes import LONG, few

ALONE_NAMES = {
    Op.TOPK: "highest",
    Op.POOL: "windows",
    Op.SCATTER: "scatter",
    Op.LISTS: "rows",
    Op.SCAN: "scan",
}
"""The names of special kernels."""


class EntryWriter(ProductWriter):
    """Kernels and host code of one entry."""

    def write(self) -> None:
        index = 0
        while index < len(self.entry.schedule.groups):
            index += self._factor_shared(index, self._plain) or self._plain(index)
            self.steps += 1

    def _plain(self, index: int) -> int:
        """The number of groups that one step writes from `first` on."""
        return self._elements_together(index) or self._products_together(index) or self._step(index)

    def _elements_together(self, first: int) -> int:
        """The number of elementwise steps from `first` on that share a launch."""
        groups = self.entry.schedule.groups[first:]
        alike = list(itertools.takewhile(lambda group: group.space.kind == ELEMENTS and not _is_listed(group), groups))
        works = [self._elements(index, group) for index, group in enumerate(alike, first)]
        while len(works) > 1 and not can_share(works):
            works.pop()
        if works:
            name = self._kernel_name(groups[0])
            self._launch(
                side_by_side(name, works, self.genome) if works[1:] else map_kernel(name, works[0], self.genome)
            )
        return len(works)

    def _step(self, index: int) -> int:
        group = self.entry.schedule.groups[index]
        held = self._held_before(index)
        name = self._kernel_name(group)
        if group.space.kind == ELEMENTS:
            self._launch(list_kernel(name, comment_on(group.stores), group.stores, self.graph, held, self.genome))
        elif group.space.kind == ROWS and any(store.value.op is Op.COLUMNS for store in group.stores):
            self._rows_and_columns(name, group, held)
        elif group.space.kind == ROWS:
            self._launch_rows(self._rows(name, group.space, group.stores, held), held)
        elif group.space.kind == COLUMNS:
            self._launch(self._columns(name, group, held).written(self.genome))
        else:
            self._alone(name, group.stores, held)
        return 1

    def _elements(self, index: int, group: Group) -> Elements:
        return elements(comment_on(group.stores), group.stores, self.graph, self._held_before(index), self.genome)

    def _alone(self, name: str, stores: Sequence[Store], held: Mapping[int, Tensor]) -> None:
        """Writes a group with a special kernel or a library call."""
        store = stores[0]
        match store.value.op:
            case Op.LIBRARY:
                self._library(store, held)
            case Op.SCAN:
                self._scan(name, store, held)
            case Op.TOPK:
                self._pick(name, stores, held)
            case Op.POOL:
                self._launch(window_kernel(name, store, self.graph, held))
            case Op.SCATTER:
                self._launch(scatter_kernel(name, store, self.graph, held))
            case Op.LISTS:
                self._launch(list_rows_kernel(name, store, self.graph, held, self.genome))
            case other:
                raise CannotCompose(f"aten.{other}")

    def _pick(self, name: str, stores: Sequence[Store], held: Mapping[int, Tensor]) -> None:
        x, cases = stores[0].value.first, self.graph.cases
        shape = cases.product(x.shape[:-1]), x.shape[-1], stores[0].value.shape[-1]
        self._launch(pick_kernel(name, held[x.number], stores, shape, cases))

    def _library(self, store: Store, held: Mapping[int, Tensor]) -> None:
        text = library.call(store.value, held, self.size, self._types())
        text = library.rounded(text, store.value.dtype, store.tensor.dtype, self.graph.cases, self._types())
        self.calls.append(Step(Let("auto", store.tensor.name, text), launches=False))
        self.declared.add(store.tensor.name)

    def _scan(self, name: str, store: Store, held: Mapping[int, Tensor]) -> None:
        *outer, columns = store.value.shape
        shape = self.graph.cases.product(outer), columns
        source, scanned = held[store.value.first.number], store.value.attr(Scanned)
        way = Way(reverse=scanned.reverse, multiplied=scanned.multiplies)
        self._launch(scan_kernel(name, source, store.tensor, shape, way, self.graph, self.genome))

    def _kernel_name(self, group: Group) -> str:
        taken = {kernel.name for kernel in self.kernels}
        kinds = {ELEMENTS: "elements", ROWS: "rows", COLUMNS: "columns"}
        kind = kinds.get(group.space.kind) or ALONE_NAMES.get(group.stores[0].value.op, "step")
        whose = stem_of(self.task.name)
        stem = f"{whose}_{kind}" if self.entry.name == "forward" else f"{whose}_{self.entry.name}_{kind}"
        name, count = stem, 1
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        return name

    def _rows(self, name: str, space: Space, stores: Sequence[Store], held: Mapping[int, Tensor]) -> Rows:
        sums = [store for store in stores if store.value.op is Op.COLUMNS]
        rest = [store for store in stores if store not in sums]
        count = self.graph.numel
        full = [s for s in rest if count(s.value) == space.rows * space.columns and not self._is_row_number(s, space)]
        roots = [*(store.value for store in rest), *(store.value.first for store in sums)]
        return Rows(
            name=name,
            comment=comment_on(stores),
            rows=space.rows,
            columns=space.columns,
            reductions=tuple(value for value in reachable(roots, held) if value.op in REDUCTIONS),
            row_stores=tuple(store for store in rest if store not in full),
            stores=tuple(full),
            column_sums=tuple((store.value, store.tensor.name) for store in sums),
            backwards=self._is_read_again(roots, held, space),
        )

    def _is_read_again(self, roots: Sequence[Value], held: Mapping[int, Tensor], space: Space) -> bool:
        """Whether another kernel of this entry has read one of its rows."""
        read = {name for kernel in self.kernels for name in kernel.needs.reads}
        given = {arg.number for value in reachable(roots, held) for arg in value.args if arg.number in held}
        count = space.rows * space.columns
        return any(
            tensor.name in read and self.graph.cases.product(tensor.shape) == count
            for tensor in (held[number] for number in given)
        )

    def _launch_rows(self, work: Rows, held: Mapping[int, Tensor], streamed: bool = False) -> None:
        """Launches the special kernels for rows (GEMV, block, cluster, cooperative) that some case needs, then the
        general one for all other rows."""
        given = work, self.graph, held, self.genome
        kinds = () if streamed else (resident_kernels, cluster_kernels, grid_kernels, across_kernels)
        special = [kernel for kind in kinds if (kernel := kind(*given))]
        self.kernels += special
        start = len(self.calls)
        self._launch_blocks(work, held, streamed)
        for kernel in reversed(special):
            self._only_if_declined(kernel, start)

    def _only_if_declined(self, first: Written, start: int) -> None:
        """Makes the calls from `start` on only if the first launcher declines."""
        self._unless_taken(self.call_of(first), start)

    def _launch_blocks(self, work: Rows, held: Mapping[int, Tensor], streamed: bool) -> None:
        """Launches one block per row, or many blocks per row if some case has few and long rows."""
        usual = row_kernels(work, self.graph, held, self.genome, streamed)
        if not split_kernel.is_worth_it(work, self.graph):
            return self._launch(usual)
        split = split_kernel.split_kernels(work, self.graph, held, self.genome, self._given())
        self.kernels += [split, usual]
        is_few = code("{rows} < {few}", rows=self.size(work.rows), few=few(self.graph.gpu))
        is_long = code("{columns} >= {least}", columns=self.size(work.columns), least=LONG)
        test = is_long if work.rows.is_one else joined(" && ", [is_few, is_long])
        both = If(test, (Do(self.call_of(split)),), (Do(self.call_of(usual)),))
        self.calls.append(Step(both, launches=True))
        return None

    def _given(self) -> set[str]:
        """The call's arguments that no kernel has written to so far."""
        written = {name for kernel in self.kernels for name in kernel.needs.writes}
        return {tensor.name for tensor in self.entry.inputs.values()} - written

    def _is_row_number(self, store: Store, space: Space) -> bool:
        """Whether the value is a single number per row, which only a reduction gives."""
        return self.graph.numel(store.value) == space.rows and store.value.op in REDUCTIONS

    def _rows_and_columns(self, name: str, group: Group, held: Mapping[int, Tensor]) -> None:
        """Writes one kernel for rows that can be kept, and two for all others, connected by stored values."""
        sums = [store for store in group.stores if store.value.op is Op.COLUMNS]
        rest = [store for store in group.stores if store not in sums]
        fused = fused_kernels(
            self._rows(f"{name}_and_columns", group.space, group.stores, held), sums, self.graph, held, self.genome
        )
        later = {**held, **{store.value.number: store.tensor for store in rest if self._is_left(store, group.space)}}
        rows = self._rows(name, group.space, rest, held)
        shape = group.space.rows, group.space.columns
        columns = ColumnWriter(f"{name}_columns", comment_on(sums), shape, sums, [], self.graph, later)
        start = len(self.calls)
        if fused:
            self.kernels.append(fused)
        if rest:
            self._launch_rows(rows, held, streamed=fused is not None)
        self._launch(columns.written(self.genome))
        if fused:
            self._only_if_declined(fused, start)

    def _is_left(self, store: Store, space: Space) -> bool:
        """Whether the second kernel can read the value from memory: float32, one number per row."""
        return store.tensor.dtype == "fp32" and self.graph.numel(store.value) == space.rows

    def _columns(self, name: str, group: Group, held: Mapping[int, Tensor]) -> ColumnWriter:
        sums = [store for store in group.stores if store.value.op is Op.COLUMNS]
        rest = [store for store in group.stores if store not in sums]
        shape = group.space.rows, group.space.columns
        return ColumnWriter(name, comment_on(group.stores), shape, sums, rest, self.graph, held)

    def _launch(self, kernel: Written) -> None:
        self.kernels.append(kernel)
        self.calls.append(Step(Do(self.call_of(kernel)), launches=True))


def _is_listed(group: Group) -> bool:
    return any(store.tensor.listed for store in group.stores)


def comment_on(stores: Sequence[Store]) -> str:
    return f"Computes {listed(stores)}."
