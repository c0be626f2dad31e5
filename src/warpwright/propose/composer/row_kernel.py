"""Rows: reductions over the trailing dimensions, with everything before and after them in the same kernel.

Rows that fit are read once and kept in registers between passes: by one warp if short, by a block if longer. Longer
ones are streamed: every pass reads them again, mostly from cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpwright.propose.composer import indices
from warpwright.propose.composer.arithmetic import ATOM, DEFINED, Term
from warpwright.propose.composer.emit import Emitter, Needs, Tensor
from warpwright.propose.composer.indices import ELEMENT, PACK, ROW, Total, Var
from warpwright.propose.composer.kernel import Store, block, emit_stores, settle_multiples
from warpwright.propose.composer.preamble import JOIN_NAMES
from warpwright.propose.composer.reductions import Carried, Joint, check, depths, joined
from warpwright.propose.composer.sizes import Size
from warpwright.propose.composer.values import Graph, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What one kernel over rows has to do."""

    name: str
    comment: str
    rows: Size
    columns: Size
    reductions: tuple[Value, ...]
    row_stores: tuple[Store, ...] = ()
    stores: tuple[Store, ...] = ()
    column_sums: tuple[tuple[Value, str], ...] = ()
    """What is summed over all rows for each column, and the name of the partial sums."""

    @property
    def roots(self) -> list[Value]:
        stored = [store.value for store in (*self.row_stores, *self.stores)]
        return [*self.reductions, *stored, *(value.first for value, _ in self.column_sums)]


class RowWriter:
    """Writes the device code of one variant: rows kept in registers, or streamed."""

    def __init__(self, work: Rows, graph: Graph, held: Mapping[int, Tensor], kept: Sequence[str] | None) -> None:
        self.work, self.graph, self.is_kept = work, graph, kept is not None
        names = {work.columns: "columns"}
        tensors = [store.tensor for store in (*work.row_stores, *work.stores)]
        self.emitter = Emitter(graph, held, work.roots, {work.rows: "rows", **names}, tensors)
        self.emitter.needs.sizes |= {"rows": work.rows, "columns": work.columns}
        self.emitter.needs.multiples[work.columns] = None
        self.row, column = Var("row", ROW), Var("column", PACK, innermost=True)
        one = graph.cases.one()
        self.base = Total(((self.row, work.columns), (column, one)))
        self.emitter.row_index = self.row
        self.emitter.kept = {name: f"{name}_kept[item]" for name in kept or ()}
        self.body: list[str] = []
        self.loaded: list[set[str]] = []
        """The tensors whose packs each pass reads along the row."""
        self.first, self.end = "lane * VEC", "columns"
        """Where a thread's walk along a streamed row begins, and where it ends."""
        self._rescale: list[str] = []
        self.uses_best = False
        self.joins: dict[str, None] = {}

    @property
    def needs(self) -> Needs:
        return self.emitter.needs

    def write(self) -> list[str]:
        """The statements of one row."""
        passes = depths([check(value) for value in self.work.reductions])
        self.write_passes([list[Carried](group) for group in passes] if self.is_kept else joined(passes))
        self._row_stores()
        if self.work.stores or self.work.column_sums:
            self._last_pass()
        settle_multiples(self.emitter)
        return self.body

    def write_passes(self, carried: Sequence[Sequence[Carried]]) -> None:
        for group in carried:
            self._reduce(group)
        settle_multiples(self.emitter)

    def place(self, value: Value) -> indices.Place:
        return indices.unravel(self.base, value.shape, self.graph.cases)

    def operand(self, value: Value) -> Term:
        term = self.emitter.term(value.first, self.place(value.first))
        return self.emitter.lifted(value.first, term, ELEMENT)

    def _reduce(self, group: Sequence[Carried]) -> None:
        emitter = self.emitter
        emitter.new_pass()
        before: list[str] = []
        elements: list[str] = []
        packs: list[str] = []
        after: list[str] = []
        for item in group:
            if isinstance(item, Joint):
                self._joint(item, before, packs, after)
            elif item.op in ("argmax", "argmin"):
                self._position(item, before, elements, after)
            else:
                self._plain(item, before, elements, after)
        self._flush_row()
        self.body += [*before, *self._loop(elements, packs), *after, ""]

    def _plain(self, value: Value, before: list[str], elements: list[str], after: list[str]) -> None:
        term = self.operand(value)
        name = self.emitter.name(_reduction_name(self.graph, value))
        op = JOIN_NAMES[value.op]
        self.joins[value.op] = None
        before.append(f"float {name} = {op}::identity();")
        added = f"{name} += {term.text};" if value.op == "sum" else f"{name} = {op}::join({name}, {term.text});"
        elements.append(added)
        after.append(f"{name} = over_row<{op}, THREADS>({name});")
        self.emitter.results[value.number] = Term(name, ATOM, ROW)

    def _position(self, value: Value, before: list[str], elements: list[str], after: list[str]) -> None:
        term = self.operand(value)
        name = self.emitter.name("best")
        sign = "-" if value.op == "argmin" else ""
        self.uses_best = True
        before.append(f"Best {name} = {{-INFINITY, INT_MAX}};")
        elements.append(f"{name} = better({name}, Best{{{sign}{term.within(ATOM)}, column + k}});")
        after.append(f"{name} = best_of_row<THREADS>({name});")
        self.emitter.results[value.number] = Term(f"{name}.at", ATOM, ROW)

    def _joint(self, joint: Joint, before: list[str], packs: list[str], after: list[str]) -> None:
        emitter = self.emitter
        x = emitter.term(joint.largest.first, self.place(joint.largest.first))
        largest, total = emitter.name("largest"), emitter.name("total")
        values = emitter.name("scores")
        self.joins |= {"amax": None, "sum": None}
        emitter.needs.functions["finite"] = DEFINED["finite"]
        before += ["// The sum of exponentials relative to the largest so far is rescaled whenever that grows."]
        before += [f"float {largest} = -INFINITY, {total} = 0.0f;"]
        packs += [f"float {values}[VEC], highest = -INFINITY;"]
        emitter.lines[ELEMENT] += [f"{values}[k] = {x.text};", f"highest = Max::join(highest, {values}[k]);"]
        after += self._joined_rows(joint, largest, total)
        self._rescale = [
            f"if (highest > {largest}) {{",
            f"    {total} *= expf({largest} - highest);",
            f"    {largest} = highest;",
            "}",
            "#pragma unroll",
            f"for (int k = 0; k < VEC; ++k) {total} += expf({values}[k] - finite_or_zero({largest}));",
        ]
        emitter.results[joint.largest.number] = Term(f"{largest}_of_row", ATOM, ROW)
        emitter.results[joint.total.number] = Term(total, ATOM, ROW)

    def _joined_rows(self, joint: Joint, largest: str, total: str) -> list[str]:
        lines = [
            f"const float {largest}_of_row = over_row<Max, THREADS>({largest});",
            f"if ({largest} != {largest}_of_row) {total} *= expf({largest} - {largest}_of_row);",
            f"{total} = over_row<Sum, THREADS>({total});",
        ]
        if not joint.guarded:
            lines.append(f"if (isinf({largest}_of_row)) {total} = NAN;  // As infinity minus infinity gives.")
        return lines

    def _row_stores(self) -> None:
        lines = []
        for store in self.work.row_stores:
            place = indices.unravel(self.row, store.value.shape, self.graph.cases)
            if self.graph.numel(store.value).is_one:
                place = tuple(None for _ in store.value.shape)
            term = self.emitter.lifted(store.value, self.emitter.term(store.value, place), PACK)
            self.needs.writes[store.tensor.name] = store.tensor
            lines.append(f"{store.tensor.name}[row] = {self.emitter.convert(store.tensor, term, store.value)};")
        self._flush_row()
        if len(lines) == 1:
            self.body += [f"if (lane == 0) {lines[0]}", ""]
        elif lines:
            self.body += ["if (lane == 0) {", *block(lines), "}", ""]

    def _last_pass(self) -> None:
        self.emitter.new_pass()
        places = [self.place(store.value) for store in self.work.stores]
        elements, after = emit_stores(self.emitter, self.work.stores, places)
        for value, name in self.work.column_sums if self.is_kept else ():
            term = self.operand(value)
            elements.append(f"{name}_sum[item].at[k] += {term.text};")
        self._flush_row()
        self.body += self._loop(elements, [], after)

    def _flush_row(self) -> None:
        self.body += self.emitter.lines[ROW]
        self.emitter.lines[ROW] = []

    def _loop(self, elements: list[str], packs: list[str], after: Sequence[str] = ()) -> list[str]:
        emitter = self.emitter
        self.loaded.append({name for name, offset in emitter._packs if offset == self.base})
        inner = [
            *emitter.lines[PACK],
            *packs,
            "#pragma unroll",
            "for (int k = 0; k < VEC; ++k) {",
            *block([*emitter.lines[ELEMENT], *elements]),
            "}",
            *self._rescale,
            *after,
        ]
        self._rescale = []
        if not self.is_kept:
            head = f"for (int column = {self.first}; column < {self.end}; column += THREADS * VEC) {{"
            return ["#pragma unroll UNROLL", head, *block(inner), "}"]
        return [*KEPT_LOOP, *block(inner, 2), "    }", "}"]


KEPT_LOOP = [
    "#pragma unroll",
    "for (int item = 0; item < ITEMS; ++item) {",
    "    const int column = (item * THREADS + lane) * VEC;",
    "    if (column < columns) {",
]


def _reduction_name(graph: Graph, value: Value) -> str:
    return graph.names.get(value.number, {"amax": "largest", "amin": "smallest"}.get(value.op, value.op))


def write_rows(work: Rows, graph: Graph, held: Mapping[int, Tensor]) -> list[RowWriter]:
    """The variants this work needs: kept where rows are read more than once, streamed always."""
    streamed = RowWriter(work, graph, held, None)
    streamed.write()
    if len(streamed.loaded) < 2:
        return [streamed]
    kept = RowWriter(work, graph, held, along_rows(streamed))
    kept.write()
    return [kept, streamed]


def along_rows(streamed: RowWriter) -> list[str]:
    """The tensors that are read along whole rows."""
    return list(dict.fromkeys(name for names in streamed.loaded for name in sorted(names)))
