"""Finds the tensors that each pass over a row reads, from the graph, before code is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import PACK, ROW, Index, Place, Total, Var
from warpwright.compose.ir.operands import operands
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph, Value, is_host
from warpwright.compose.kernels.reduction.passes import Carried, OnlineSoftmax, Variance, check, depths, joined
from warpwright.compose.kernels.rows.row import Rows

Access = tuple[str, Index | None]
"""A tensor by name, and an index into it."""


class RowReads:
    """The packs that the passes of a streamed kernel load, one set for each pass."""

    def __init__(self, work: Rows, graph: Graph, held: Mapping[int, Tensor], at_once: Sequence[Store] = ()) -> None:
        """`at_once` are the stores of the first pass."""
        self.work, self.graph, self.held = work, graph, held
        column = Var("column", PACK, innermost=True)
        self.base = Total(((Var("row", ROW), work.columns), (column, graph.cases.one())))
        self._finished: set[int] = set()
        self.packs = list(self._passes(at_once))

    def _passes(self, at_once: Sequence[Store]) -> Iterator[frozenset[Access]]:
        early: Sequence[Store] = at_once
        for group in joined(depths([check(value) for value in self.work.reductions])):
            yield self._loads([_operand(item) for item in group], early)
            self._finished.update(value.number for item in group for value in _results(item))
            early = ()
        rest = [store for store in self.work.stores if store not in at_once]
        if rest or self.work.column_sums:
            yield self._loads([], rest)

    @cached_property
    def loaded(self) -> list[set[str]]:
        """The tensors whose packs each pass reads along the row."""
        return [{name for name, offset in packs if offset == self.base} for packs in self.packs]

    @property
    def along_rows(self) -> list[str]:
        """The tensors that are read along whole rows."""
        return list(dict.fromkeys(name for names in self.loaded for name in sorted(names)))

    @property
    def read_again(self) -> list[str]:
        """The tensors worth keeping on chip: several passes read them. They share one allocation, so they must have one
        type."""
        typed = {tensor.name for tensor in self.held.values() if tensor.cpp == "T"}
        return [name for name in self.along_rows if sum(name in names for names in self.loaded) > 1 and name in typed]

    @property
    def has_several_passes(self) -> bool:
        return len(self.loaded) > 1

    def ahead(self, packs: int) -> tuple[int, ...]:
        """How many rounds of loads each pass has under way, where a thread may have so many packs under way; below
        zero, how often a loop without such loads is unrolled."""
        counts = [sum(not indices.is_loaded(offset) for _, offset in accesses) for accesses in self.packs]
        return tuple(max(packs // count, 2) if count and packs > 1 else -packs for count in counts)

    def _loads(self, values: Iterable[Value], stores: Iterable[Store]) -> frozenset[Access]:
        found: set[Access] = set()
        seen: set[tuple[int, Place]] = set()
        roots = [(value, self._place(value)) for value in values]
        for store in stores:
            place = self._place(store.value)
            roots.append((store.value, place))
            roots += [(index, place[: len(index.shape)]) for index in store.at]
        while roots:
            value, place = roots.pop()
            if (value.number, place) in seen:
                continue
            seen.add((value.number, place))
            if value.number in self.held:
                self._note(found, self.held[value.number], indices.ravel(place, value.shape, self.graph.cases))
            elif not is_host(value) and value.number not in self._finished:
                roots += operands(value, place, self.graph.cases)
        return frozenset(found)

    def _place(self, value: Value) -> Place:
        return indices.unravel(self.base, value.shape, self.graph.cases) if value.shape else ()

    def _note(self, found: set[Access], tensor: Tensor, offset: Index | None) -> None:
        if indices.motion(offset, self.graph.cases).kind == "step":
            found.add((tensor.name, offset))


def _operand(item: Carried) -> Value:
    match item:
        case OnlineSoftmax():
            return item.largest.first
        case Variance():
            return item.total.first
    return item.first


def _results(item: Carried) -> list[Value]:
    match item:
        case OnlineSoftmax():
            return [item.largest, item.total]
        case Variance():
            return [item.total, item.mean, item.squares]
    return [item]
