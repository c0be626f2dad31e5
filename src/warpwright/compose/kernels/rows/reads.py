"""Finds the tensors that each pass over a row reads, from the graph, before code is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from warpwright.compose.code.text import as_code
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, ROW, Flip, Index, Loaded, Place, Shift, Total, Var
from warpwright.compose.ir.operations import Axis, Flipped, Op, Permuted, Sliced
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph, Value, is_host
from warpwright.compose.kernels.reduction.passes import Carried, OnlineSoftmax, Variance, check, depths, joined
from warpwright.compose.kernels.rows.row import Rows

Access = tuple[str, Index | None]
"""A tensor by name, and an index into it."""
SOMEWHERE = as_code("somewhere")
"""An index that only the kernel knows."""


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
                roots += self._operands(value, place, found)
        return frozenset(found)

    def _place(self, value: Value) -> Place:
        return indices.unravel(self.base, value.shape, self.graph.cases) if value.shape else ()

    def _note(self, found: set[Access], tensor: Tensor, offset: Index | None) -> None:
        if indices.motion(offset, self.graph.cases).kind == "step":
            found.add((tensor.name, offset))

    def _operands(self, value: Value, place: Place, found: set[Access]) -> list[tuple[Value, Place]]:
        """The operands of an operation, with their places."""
        match value.op:
            case Op.RESHAPE:
                return self._reshaped(value, place, found)
            case Op.BROADCAST:
                pairs = zip(place, value.first.shape, strict=True)
                return [(value.first, tuple(None if size.is_one else index for index, size in pairs))]
            case Op.PERMUTE:
                order = value.attr(Permuted).order
                return [(value.first, tuple(place[order.index(position)] for position in range(len(place))))]
            case Op.SLICE:
                cut = value.attr(Sliced)
                return [(value.first, _replaced(place, cut.dim, _moved(place[cut.dim], cut)))]
            case Op.FLIP:
                return [(value.first, _turned(place, value))]
            case Op.GATHER:
                table, index = value.args
                return [(index, place), (table, _replaced(place, value.attr(Axis).dim, Loaded(SOMEWHERE, ELEMENT)))]
            case Op.ROWS_AT:
                table, index = value.args
                rank = len(index.shape)
                return [(index, place[:rank]), (table, (Loaded(SOMEWHERE, ELEMENT), *place[rank:]))]
        return [(arg, place if arg.shape else ()) for arg in value.args]

    def _reshaped(self, value: Value, place: Place, found: set[Access]) -> list[tuple[Value, Place]]:
        inner, cases = value.first, self.graph.cases
        flat = indices.ravel(place, value.shape, cases)
        if inner.number in self.held:
            self._note(found, self.held[inner.number], flat)
            return []
        nowhere: Place = (None,) * len(inner.shape)
        return [(inner, nowhere if flat is None else indices.unravel(flat, inner.shape, cases))]


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


def _replaced(place: Place, dim: int, index: Index | None) -> Place:
    return (*place[:dim], index, *place[dim + 1 :])


def _moved(index: Index | None, cut: Sliced) -> Index | None:
    if cut.start.text == "0":
        return index
    return Loaded(SOMEWHERE, KERNEL) if index is None else Shift(index, cut.start)


def _turned(place: Place, value: Value) -> Place:
    dims = value.attr(Flipped).dims
    sides = enumerate(zip(place, value.shape, strict=True))
    return tuple(Flip(at, size) if dim in dims and at is not None else at for dim, (at, size) in sides)
