"""Rows: reductions over the trailing dimensions, with everything before and after them in the same kernel.

Rows that fit are read once and kept in registers between passes: by one warp if short, by a block if longer. Longer
ones are streamed: every pass reads them again, mostly from cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from warpwright.compose.code.printer import printed
from warpwright.compose.code.text import code
from warpwright.compose.cuda.arithmetic import Term
from warpwright.compose.cuda.eight_bits import as_stored
from warpwright.compose.cuda.emit import Early, Emitter
from warpwright.compose.cuda.kernel import block, emit_stores, settle_multiples
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, PACK, ROW, Total, Var
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph, Value
from warpwright.compose.kernels.reduction.accumulators import Carrier, Pass, carrier, preambles, shared
from warpwright.compose.kernels.reduction.passes import Carried, check, depths, joined


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
    backwards: bool = False
    """Whether the last rows come first: what an earlier kernel read last is still in the cache."""

    @property
    def roots(self) -> list[Value]:
        stored = [store.value for store in (*self.row_stores, *self.stores)]
        return [*self.reductions, *stored, *(value.first for value, _ in self.column_sums)]


class RowWriter:
    """Writes the device code of one variant: rows kept in registers, or streamed."""

    def __init__(
        self,
        work: Rows,
        graph: Graph,
        held: Mapping[int, Tensor],
        kept: Sequence[str] | None,
        ahead: int = 1,
        *,
        sharing: str = "THREADS",
    ) -> None:
        self.work, self.graph, self.is_kept, self.ahead = work, graph, kept is not None, ahead
        self.sharing = sharing
        """How many threads share a row that is kept."""
        names = {work.columns: "columns"}
        tensors = [store.tensor for store in (*work.row_stores, *work.stores)]
        self.emitter = Emitter(graph, held, work.roots, {work.rows: "rows", **names}, tensors)
        self.emitter.needs.sizes |= {"rows": work.rows, "columns": work.columns}
        self.emitter.needs.multiples[work.columns] = None
        self.row, column = Var("row", ROW), Var("column", PACK, innermost=True)
        one = graph.cases.one()
        self.base = Total(((self.row, work.columns), (column, one)))
        self.emitter.row_index = self.row
        self.emitter.kept = {name: code("{kept}[{item}]", kept=f"{name}_kept") for name in kept or ()}
        self.emitter.opens = True
        self.body: list[str] = []
        self.loaded: list[set[str]] = []
        """The tensors whose packs each pass reads along the row."""
        self.begin, self.end = "", "columns"
        """Where the walk of the threads along a row begins, if not at its start, and where it ends."""
        self.may_fetch_early: Callable[[set[str]], bool] = lambda names: False
        """Whether these tensors may be read before the kernel waits for others."""
        self.fetched_early: list[str] = []
        """The statements that do so."""
        self.joins = kept is None
        """Whether passes that wait for each other become one: threads meet less often, but compute more."""
        self.behind_last: list[str] = []
        """What is done behind each pack of the last pass, when it is needed no more."""
        self.before_sharing = 0
        """Where in the body a pass is through, and its threads have not met yet."""
        self.preamble: dict[str, None] = {}

    @property
    def needs(self) -> Needs:
        return self.emitter.needs

    @property
    def read_again(self) -> list[str]:
        """The tensors that several passes read along the row."""
        return [name for name in along_rows(self) if sum(name in names for names in self.loaded) > 1]

    def write(self) -> list[str]:
        """The statements of one row."""
        passes = depths([check(value) for value in self.work.reductions])
        for group in joined(passes) if self.joins else [list[Carried](group) for group in passes]:
            for item in self.reduce(group):
                self.body += item.settle()
            self.body.append("")
        self.row_stores()
        self.last_pass()
        settle_multiples(self.emitter)
        return self.body

    def place(self, value: Value) -> indices.Place:
        return indices.unravel(self.base, value.shape, self.graph.cases)

    def at_element(self, value: Value) -> Term:
        return self.emitter.lifted(value, self.emitter.term(value, self.place(value)), ELEMENT)

    def reduce(self, group: Sequence[Carried], stores: Sequence[Store] = ()) -> list[Carrier]:
        """One pass along the row, for all reductions of a group; it may leave what needs none of them."""
        self._new_pass()
        done = Pass()
        carriers = [carrier(item, self.emitter) for item in group]
        for item in carriers:
            done.before += item.begin()
            item.add(self.at_element(item.operand), done)
        done.after += shared(carriers)
        elements, behind = map(
            printed, emit_stores(self.emitter, stores, [self.place(store.value) for store in stores])
        )
        done.elements += elements
        done.behind += behind
        self._flush_row()
        self.body += [*done.before, *self._loop(done)]
        self.before_sharing = len(self.body)
        self.body += done.after
        self._settled(carriers)
        return carriers

    def join(self, group: Sequence[Carried], parts: Sequence[Sequence[str]]) -> None:
        """What the blocks of an earlier kernel have left of each piece of the row, put together."""
        carriers = [carrier(item, self.emitter) for item in group]
        done = Pass(elements=["const int64_t part = row * pieces + other;"])
        for item, names in zip(carriers, parts, strict=True):
            done.before += item.begin()
            done.elements += item.join([f"{name}[part]" for name in names])
        done.after += [*shared(carriers), *(line for item in carriers for line in item.settle())]
        loop = ["for (int other = lane; other < pieces; other += THREADS) {", *block(done.elements), "}"]
        self.body += [*done.before, *loop, *done.after, ""]
        self._settled(carriers)

    def _settled(self, carriers: Sequence[Carrier]) -> None:
        for item in carriers:
            self.emitter.results |= item.results(self.emitter)
        self.preamble |= dict.fromkeys(preambles(carriers))

    def row_stores(self, only: str = "lane == 0") -> None:
        lines = []
        for store in self.work.row_stores:
            place = indices.unravel(self.row, store.value.shape, self.graph.cases)
            if self.graph.numel(store.value).is_one:
                place = tuple(None for _ in store.value.shape)
            term = self.emitter.lifted(store.value, self.emitter.term(store.value, place), PACK)
            self.needs.writes[store.tensor.name] = store.tensor
            lines.append(f"{store.tensor.name}[row] = {as_stored(self.needs, store.tensor, term, store.value).text};")
        self._flush_row()
        if len(lines) == 1:
            self.body += [f"if ({only}) {lines[0]}", ""]
        elif lines:
            self.body += [f"if ({only}) {{", *block(lines), "}", ""]

    def last_pass(self) -> None:
        if not self.work.stores and not self.work.column_sums:
            return
        self._new_pass()
        places = [self.place(store.value) for store in self.work.stores]
        elements, after = map(printed, emit_stores(self.emitter, self.work.stores, places))
        for value, name in self.work.column_sums if self.is_kept else ():
            elements.append(f"{name}_sum[item].at[k] += {self.at_element(value.first).text};")
        self._flush_row()
        self.body += self._loop(Pass(elements=elements, behind=[*after, *self.behind_last]))

    def _new_pass(self) -> None:
        self.emitter.new_pass()
        self.emitter.early = {} if self.ahead > 1 and not self.is_kept else None

    def _flush_row(self) -> None:
        self.body += printed(self.emitter.lines[ROW])
        self.emitter.lines[ROW] = []

    def _loop(self, done: Pass) -> list[str]:
        emitter = self.emitter
        self.loaded.append({name for name, offset in emitter._packs if offset == self.base})
        inner = [
            *printed(emitter.lines[PACK]),
            *done.packs,
            "#pragma unroll",
            "for (int k = 0; k < VEC; ++k) {",
            *block([*printed(emitter.lines[ELEMENT]), *done.elements]),
            "}",
            *done.behind,
        ]
        if self.is_kept:
            return self._over_kept(inner)
        if emitter.early:
            return self._several_at_once(inner, emitter.early)
        head = f"for (int column = {self.first}; column < {self.end}; column += THREADS * VEC) {{"
        return [f"#pragma unroll {self.ahead}", head, *block(inner), "}"]

    def _over_kept(self, inner: Sequence[str]) -> list[str]:
        return [*self.kept_loop(), *block(inner, 2), "    }", "}"]

    @property
    def first(self) -> str:
        """Where that of one thread begins."""
        return f"{self.begin}lane * VEC"

    def kept_loop(self) -> list[str]:
        """Over the packs that a thread keeps."""
        return [
            "#pragma unroll",
            "for (int item = 0; item < ITEMS; ++item) {",
            f"    {self.kept_column}",
            f"    if ({self.within}) {{",
        ]

    @property
    def within(self) -> str:
        """Whether a pack that is kept lies in the row."""
        return f"column < {self.end}"

    @property
    def kept_column(self) -> str:
        return f"const int column = {self.begin}(item * {self.sharing} + lane) * VEC;"

    def _several_at_once(self, inner: Sequence[str], loads: Mapping[str, Early]) -> list[str]:
        """All loads of a round are under way before the first is waited for, whatever branches come after them."""
        lines = [f"{name}[p] = {early.load.text};" for name, early in loads.items()]
        count = max(self.ahead // len(loads), 2)
        over = [
            "#pragma unroll",
            f"for (int p = 0; p < {count}; ++p) {{",
            "    const int column = first + p * THREADS * VEC;",
        ]
        test = f"if (column < {self.end}) "
        guarded = [test + lines[0]] if len(lines) == 1 else [test + "{", *block(lines), "}"]
        declared = [f"{early.type.text} {name}[{count}];" for name, early in loads.items()]
        fetched = [*over, *block(guarded), "}"]
        if self.may_fetch_early({name for name, _ in self.emitter._packs}):
            self.fetched_early = [*declared, "const auto fetch = [&](int first) {", *block(fetched), "};"]
            self.fetched_early.append(
                f"fetch({self.first});  // Under way while this kernel still waits for the one before it."
            )
            fetched, declared = [f"if (first > {self.first}) fetch(first);"], []
        return [
            "#pragma unroll 1",
            f"for (int first = {self.first}; first < {self.end}; first += {count} * THREADS * VEC) {{",
            *block([*declared, *fetched]),
            *block([*over, f"    {test}{{", *block(inner, 2), "    }", "}"]),
            "}",
        ]


def write_rows(work: Rows, graph: Graph, held: Mapping[int, Tensor], ahead: int) -> list[RowWriter]:
    """Both ways: kept in registers where a row fits, streamed where it does not, with so many packs under way."""
    streamed = RowWriter(work, graph, held, None, ahead)
    streamed.write()
    kept = RowWriter(work, graph, held, along_rows(streamed))
    kept.write()
    return [kept, streamed]


def along_rows(streamed: RowWriter) -> list[str]:
    """The tensors that are read along whole rows."""
    return list(dict.fromkeys(name for names in streamed.loaded for name in sorted(names)))
