"""Rewrites sums over long rows, so that the rows are read less often.

A sum that depends on another sum of the same row is split if it is linear in the latter: its terms can be summed in the
same pass. And the sum of a row that consists of finer rows, which are summed anyway, is computed from the finer sums:
then one kernel reads the data for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from warpwright.compose.ir.operations import Op, Reduced
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph, Value, is_host
from warpwright.compose.schedule.groups import Scheduler
from warpwright.compose.schedule.row_shapes import is_few_and_long, is_too_long
from warpwright.compose.schedule.spaces import STRIDED, Space

ARITHMETIC = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG)


def rewritten(graph: Graph, inputs: Mapping[int, Tensor], outputs: Sequence[Store]) -> list[Store]:
    rewriter = _Rewriter(graph, inputs, [value for store in outputs for value in (store.value, *store.at)])
    return [replace(store, value=rewriter.renewed(store.value)) for store in outputs]


class _Rewriter:
    def __init__(self, graph: Graph, inputs: Mapping[int, Tensor], roots: Sequence[Value]) -> None:
        self.graph, self.inputs = graph, inputs
        self.scheduler = Scheduler(graph, inputs)
        self.sums = [value for value in self._computed(roots) if value.op is Op.SUM]
        self._renewed: dict[int, Value] = {}

    def _computed(self, roots: Sequence[Value]) -> Iterator[Value]:
        """Yields every value that is not an input."""
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            value = stack.pop()
            if value.number not in seen and value.number not in self.inputs and not is_host(value):
                seen.add(value.number)
                stack.extend(value.args)
                yield value

    def renewed(self, value: Value) -> Value:
        if value.number in self.inputs or is_host(value):
            return value
        if value.number not in self._renewed:
            self._renewed[value.number] = self._named(value, self._rebuilt(value))
        return self._renewed[value.number]

    def _rebuilt(self, value: Value) -> Value:
        args = [self.renewed(arg) for arg in value.args]
        if any(new is not old for new, old in zip(args, value.args, strict=True)):
            value = self.graph.make(value.op, args, value.shape, value.attrs, value.kind, value.dtype)
        return self._summed(value) if value.op is Op.SUM and self._is_long(value) else value

    def _named(self, old: Value, new: Value) -> Value:
        if old.number in self.graph.names:
            self.graph.names.setdefault(new.number, self.graph.names[old.number])
        return new

    def _is_long(self, value: Value) -> bool:
        space, cases, gpu = self.scheduler.own_space(value), self.graph.cases, self.graph.gpu
        if space.kind == STRIDED:
            return False
        return is_few_and_long(space.rows, space.columns, cases, gpu) or is_too_long(space.columns, cases)

    def _summed(self, value: Value) -> Value:
        if self._waits(value.first):
            return self._apart(value.first, value) or value
        return self._from_finer(value)

    def _waits(self, term: Value) -> bool:
        """Whether the term depends on another reduction."""
        return bool(self.scheduler.spaces(term))

    def _apart(self, term: Value, value: Value) -> Value | None:
        """The sum of a term over the rows of `value`, from sums without dependencies; None if it cannot be split.

        A subtracted mean is not split off: the sum without it could be much larger than the sum with it.
        """
        make = self.graph.pointwise
        if not self._waits(term):
            alike = term.shape == value.first.shape
            return self._from_finer(self._sum(term, value)) if alike else None
        if term.op is Op.NEG:
            inner = self._apart(term.first, value)
            return inner and make(Op.NEG, inner)
        if term.op in (Op.ADD, Op.SUB):
            one, other = (self._apart(arg, value) for arg in term.args)
            return make(term.op, one, other) if one and other else None
        return self._scaled(term, value) if term.op in (Op.MUL, Op.DIV) else None

    def _scaled(self, term: Value, value: Value) -> Value | None:
        """Moves a factor that is constant along the row out of the sum."""
        one, other = term.args
        if term.op is Op.MUL and self._of_row(other, value) is None:
            one, other = other, one
        factor = self._of_row(other, value)
        inner = self._apart(one, value) if factor else None
        return self.graph.pointwise(term.op, inner, factor) if inner and factor else None

    def _of_row(self, term: Value, value: Value) -> Value | None:
        """The term's constant value along a row, in the shape of the sum; None if it varies."""
        if is_host(term):
            return term
        if term.op is Op.BROADCAST:
            inner, reduced = term.first, value.attr(Reduced).dims
            still = all(size.is_one for size in inner.shape[-reduced:])
            return self.graph.reshape(inner, inner.shape[:-reduced]) if still else None
        if term.op not in ARITHMETIC:
            return None
        args = [self._of_row(arg, value) for arg in term.args]
        found = [arg for arg in args if arg is not None]
        return self.graph.pointwise(term.op, *found) if len(found) == len(args) else None

    def _sum(self, term: Value, like: Value) -> Value:
        return self.graph.make(Op.SUM, [term], like.shape, like.attrs, like.kind, like.dtype)

    def _from_finer(self, value: Value) -> Value:
        """Computes the sum from sums over finer rows, if these are computed anyway."""
        whole = self.scheduler.own_space(value)
        for like in self.sums:
            finer = self.scheduler.own_space(like)
            if self._consists(whole, finer) and whole not in self.scheduler.spaces(like):
                parts = self._sum(self.graph.reshape(value.first, like.first.shape), like)
                listed = self.graph.reshape(parts, (*value.shape, finer.rows // whole.rows))
                return self.graph.make(Op.SUM, [listed], value.shape, Reduced(1), value.kind, value.dtype)
        return value

    def _consists(self, whole: Space, finer: Space) -> bool:
        """Whether rows of `whole` consist of rows of `finer` in every case."""
        if whole == finer or whole.number or finer.number or whole.kind != finer.kind:
            return False
        pairs = zip(whole.columns.values, finer.columns.values, strict=True)
        same = whole.rows * whole.columns == finer.rows * finer.columns
        return same and all(few > 0 and many % few == 0 for many, few in pairs)
