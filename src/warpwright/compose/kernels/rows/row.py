"""Rows: reductions over the trailing dimensions, with everything before and after them in the same kernel.

Rows that fit are read once and kept in registers between passes: by one warp if short, by a block if longer. Longer
ones are streamed: every pass reads them again, mostly from cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from warpwright.compose.code.definitions import Item
from warpwright.compose.code.statements import (
    FULLY,
    Assign,
    Blank,
    Body,
    Do,
    Form,
    If,
    Lambda,
    Let,
    Loop,
    Statement,
    under,
)
from warpwright.compose.code.text import Code, Piece, code
from warpwright.compose.cuda.arithmetic import Term
from warpwright.compose.cuda.eight_bits import as_stored
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import emit_stores, over_items, over_pack, settle_multiples
from warpwright.compose.cuda.loads import Early, PackMode
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, PACK, ROW, Total, Var
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph, Value
from warpwright.compose.kernels.reduction.accumulators import Accumulator, Pass, accumulator_of, preambles, shared
from warpwright.compose.kernels.reduction.passes import Carried, check, depths, joined


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The work of one kernel over rows."""

    name: str
    comment: str
    rows: Size
    columns: Size
    reductions: tuple[Value, ...]
    row_stores: tuple[Store, ...] = ()
    stores: tuple[Store, ...] = ()
    column_sums: tuple[tuple[Value, str], ...] = ()
    """The values summed over all rows for each column, and the names of the partial sums."""
    backwards: bool = False
    """Whether rows are processed in reverse order, since the last rows of an earlier kernel are still in the cache."""

    @property
    def roots(self) -> list[Value]:
        stored = [store.value for store in (*self.row_stores, *self.stores)]
        return [*self.reductions, *stored, *(value.first for value, _ in self.column_sums)]


@dataclass(frozen=True, slots=True)
class Reduced:
    """One pass along a row: its accumulators, its loop, and the statements that combine threads."""

    accumulators: list[Accumulator]
    walk: list[Statement]
    sharing: list[Statement]


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
        is_piece: bool = False,
        packs: PackMode | None = None,
    ) -> None:
        self.work, self.graph, self.is_kept, self.ahead = work, graph, kept is not None, ahead
        self.sharing = sharing
        """The number of threads that share a kept row."""
        names = {work.columns: "columns"}
        tensors = [store.tensor for store in (*work.row_stores, *work.stores)]
        self.row, column = Var("row", ROW), Var("column", PACK, innermost=True)
        mode = packs or PackMode({name: code("{kept}[item]", kept=f"{name}_kept") for name in kept or ()}, opens=True)
        self.emitter = Emitter(graph, held, work.roots, {work.rows: "rows", **names}, tensors, mode, self.row)
        self.emitter.needs.sizes |= {"rows": work.rows, "columns": work.columns}
        self.emitter.needs.multiples[work.columns] = None
        one = graph.cases.one()
        self.base = Total(((self.row, work.columns), (column, one)))
        self.body: list[Statement] = []
        self.begin = "begin + " if is_piece else ""
        """The start of the loop along a row, if not 0."""
        self.end = "end" if is_piece else "columns"
        """The end of the loop along a row."""
        self.may_fetch_early: Callable[[set[str]], bool] = lambda names: False
        """Whether these tensors may be read before the grid dependency wait."""
        self.fetched_early: list[Statement] = []
        """The prefetching statements."""
        self.joins = kept is None
        """Whether dependent passes are fused, which needs fewer barriers and more computation."""
        self.behind_last: list[Statement] = []
        """The statements after each pack of the last pass, when the pack is not needed any more."""
        self.preamble: dict[Item, None] = {}

    @property
    def needs(self) -> Needs:
        return self.emitter.needs

    def write(self) -> list[Statement]:
        """The statements of one row."""
        passes = depths([check(value) for value in self.work.reductions])
        for group in joined(passes) if self.joins else [list[Carried](group) for group in passes]:
            for item in self.reduce(group):
                self.body += item.settle()
            self.body.append(Blank())
        self.row_stores()
        self.last_pass()
        settle_multiples(self.emitter)
        return self.body

    def place(self, value: Value) -> indices.Place:
        return indices.unravel(self.base, value.shape, self.graph.cases)

    def at_element(self, value: Value) -> Term:
        return self.emitter.lifted(value, self.emitter.term(value, self.place(value)), ELEMENT)

    def reduce(self, group: Sequence[Carried], stores: Sequence[Store] = ()) -> list[Accumulator]:
        """Writes one pass along the row."""
        found = self.reduced(group, stores)
        self.body += [*found.walk, *found.sharing]
        return found.accumulators

    def reduced(self, group: Sequence[Carried], stores: Sequence[Store] = ()) -> Reduced:
        """One pass along the row for all reductions of a group, with stores that do not depend on them."""
        self.emitter.new_pass(self.early_place)
        done = Pass()
        accumulators = [accumulator_of(item, self.emitter) for item in group]
        for item in accumulators:
            done.before += item.begin()
            item.add(self.at_element(item.operand), done)
        done.after += shared(accumulators)
        elements, behind = emit_stores(self.emitter, stores, [self.place(store.value) for store in stores])
        done.elements += elements
        done.behind += behind
        walk = [*self._row_lines(), *done.before, *self._loop(done)]
        self._settled(accumulators)
        return Reduced(accumulators, walk, done.after)

    def join(self, group: Sequence[Carried], parts: Sequence[Sequence[str]]) -> None:
        """Combines the partial results of the row's pieces from an earlier kernel."""
        accumulators = [accumulator_of(item, self.emitter) for item in group]
        done = Pass(elements=[Let("const int64_t", "part", code("row * {pieces} + other"))])
        for item, names in zip(accumulators, parts, strict=True):
            done.before += item.begin()
            done.elements += item.join([code("{name}[part]", name=name) for name in names])
        done.after += [*shared(accumulators), *(statement for item in accumulators for statement in item.settle())]
        loop = Loop(code("int other = lane; other < {pieces}; other += THREADS"), tuple(done.elements))
        self.body += [*done.before, loop, *done.after, Blank()]
        self._settled(accumulators)

    def _settled(self, accumulators: Sequence[Accumulator]) -> None:
        for item in accumulators:
            self.emitter.results |= item.results(self.emitter)
        self.preamble |= dict.fromkeys(preambles(accumulators))

    def row_stores(self, only: Piece = "lane == 0") -> None:
        stores: list[Statement] = []
        for store in self.work.row_stores:
            place = indices.unravel(self.row, store.value.shape, self.graph.cases)
            if self.graph.numel(store.value).is_one:
                place = tuple(None for _ in store.value.shape)
            term = self.emitter.lifted(store.value, self.emitter.term(store.value, place), PACK)
            self.needs.writes[store.tensor.name] = store.tensor
            found = as_stored(self.needs, store.tensor, term, store.value)
            stores.append(Assign(code("{tensor}[row]", tensor=store.tensor.name), found))
        self.body += self._row_lines()
        if stores:
            self.body += [under(only, stores), Blank()]

    def last_pass(self) -> None:
        if not self.work.stores and not self.work.column_sums:
            return
        self.emitter.new_pass(self.early_place)
        places = [self.place(store.value) for store in self.work.stores]
        elements, after = emit_stores(self.emitter, self.work.stores, places)
        for value, name in self.work.column_sums if self.is_kept else ():
            sums = code("{sums}[item].at[k]", sums=f"{name}_sum")
            elements.append(Assign(sums, self.at_element(value.first).code, "+="))
        self.body += self._row_lines()
        self.body += self._loop(Pass(elements=elements, behind=[*after, *self.behind_last]))

    @property
    def early_place(self) -> str | None:
        """The index of the prefetched pack in use, where packs are prefetched."""
        return "[p]" if self.ahead > 1 and not self.is_kept else None

    def _row_lines(self) -> list[Statement]:
        """The pending statements that are computed once per row."""
        found, self.emitter.lines[ROW] = self.emitter.lines[ROW], []
        return found

    def _loop(self, done: Pass) -> list[Statement]:
        emitter = self.emitter
        over = over_pack([*emitter.lines[ELEMENT], *done.elements])
        inner = [*emitter.lines[PACK], *done.packs, over, *done.behind]
        if self.is_kept:
            return self._over_kept(inner)
        if emitter.early:
            return [self._several_cooperative(inner, emitter.early)]
        head = "int column = {first}; column < {end}; column += THREADS * {VEC}"
        return [Loop(code(head, first=self.first, end=self.end), tuple(inner), self.ahead)]

    def _over_kept(self, inner: Body) -> list[Statement]:
        return [self.over_kept(inner)]

    @property
    def first(self) -> Code:
        """The start of a thread's loop along the row."""
        return code("{begin}lane * {VEC}", begin=self.begin)

    def over_kept(self, inner: Body) -> Statement:
        """A loop over the packs that a thread keeps."""
        return over_items([self.kept_column, If(self.within, tuple(inner))])

    @property
    def within(self) -> Code:
        """The test whether a kept pack lies within the row."""
        return code("column < {end}", end=self.end)

    @property
    def kept_column(self) -> Statement:
        place = code("{begin}(item * {sharing} + lane) * {VEC}", begin=self.begin, sharing=self.sharing)
        return Let("const int", "column", place)

    def _several_cooperative(self, inner: Body, loads: Mapping[str, Early]) -> Statement:
        """The loop of a streamed pass, which issues all loads of an iteration before the first use."""
        count = max(self.ahead // len(loads), 2)
        test, step = code("column < {end}", end=self.end), code("{count} * THREADS * {VEC}", count=count)
        asked = [Assign(code("{name}[p]", name=name), early.load) for name, early in loads.items()]
        fetched = [self._over_places(count, under(test, asked))]
        declared: list[Statement] = [Let(early.type, name, extent=count) for name, early in loads.items()]
        if self.may_fetch_early({name for name, _ in self.emitter.packs}):
            early = Do(code("fetch({first})", first=self.first), comment=EARLY)
            self.fetched_early = [*declared, Lambda("fetch", "int first", tuple(fetched)), early]
            later = If(code("first > {first}", first=self.first), (Do("fetch(first)"),), form=Form.BESIDE)
            declared, fetched = [], [later]
        head = code("int first = {first}; first < {end}; first += {step}", first=self.first, end=self.end, step=step)
        return Loop(head, (*declared, *fetched, self._over_places(count, If(test, tuple(inner)))), 1)

    def _over_places(self, count: int, inner: Statement) -> Statement:
        """A loop over the packs in flight."""
        column = Let("const int", "column", code("first + p * THREADS * {VEC}"))
        return Loop(f"int p = 0; p < {count}; ++p", (column, inner), FULLY)


EARLY = "Overlaps with the previous kernel."
