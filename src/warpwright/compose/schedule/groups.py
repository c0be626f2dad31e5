"""Decides which values are stored, and which kernel stores them.

Elementwise values are computed inline. Stored values are the results of the function, operands and results of library
calls and special kernels, and the few numbers per row that one kernel passes to another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from warpwright.compose.ir.naming import RESERVED
from warpwright.compose.ir.operations import APART, HOST, Axis, LibraryCall, Op, Reduced
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import FLOAT, INT, Graph, Value, is_host, under_views, walk
from warpwright.compose.ir.wording import called
from warpwright.compose.schedule.row_shapes import few
from warpwright.compose.schedule.spaces import (
    ALONE,
    COLUMNS,
    ELEMENTS,
    ROWS,
    STRIDED,
    Space,
    elements_between,
    is_aligned,
    is_reduction,
)

INLINE = (Op.POOL, Op.SCATTER, Op.LISTS)
"""Operations whose kernels compute their elementwise inputs inline."""


@dataclass(slots=True)
class Group:
    """The stores of one kernel, or of one step of another kind."""

    space: Space
    stores: list[Store] = field(default_factory=list)

    @property
    def own_step(self) -> Op | None:
        """The operation that takes a step of its own, if the group is one."""
        return self.stores[0].value.op if self.space.kind == ALONE else None


def are_rows(group: Group) -> bool:
    """Whether it runs over rows, and sums no columns beside them."""
    return group.space.kind == ROWS and not _sums_columns(group)


def are_strided_rows(group: Group) -> bool:
    return group.space.kind == STRIDED


def are_rows_and_columns(group: Group) -> bool:
    return group.space.kind == ROWS and _sums_columns(group)


def _sums_columns(group: Group) -> bool:
    return any(store.value.op is Op.COLUMNS for store in group.stores)


@dataclass(frozen=True, slots=True)
class Schedule:
    groups: tuple[Group, ...]
    tensors: tuple[Tensor, ...]
    """Scratch, in the order of its making."""
    held: Mapping[int, Tensor]
    """Every value that lies in memory at some time, by number."""
    made_by: Mapping[int, int]
    """The group that leaves it there."""


class Scheduler:
    def __init__(self, graph: Graph, inputs: Mapping[int, Tensor], reserved: frozenset[str] = frozenset()) -> None:
        self.graph, self.reserved = graph, reserved
        self.inputs = dict(inputs)
        self.kept: dict[int, Store] = {}
        """The stores of our steps, in an order that respects dependencies."""
        self.scratch: list[Tensor] = []
        self._reductions: dict[int, frozenset[Space]] = {}
        self._own_spaces: dict[int, Space] = {}
        """The spaces of reductions, by number of the value."""
        self._aligned: dict[tuple[int, Space], bool] = {}
        self._summed: dict[int, str] = {}
        """The summands of results, with the names of these results."""

    def run(self, outputs: Sequence[Store], views: Sequence[Value] = ()) -> Schedule:
        """Schedules the outputs; `views` must be stored too, in any tensor. Values needed by others are stored first,
        in the output tensor if they are outputs, so that no value is stored twice."""
        self._summed = {term.number: store.tensor.name for store in outputs if (term := _summand(store.value))}
        needed = {arg.number for value in walk([store.value for store in outputs]) for arg in value.args}
        for store in sorted(outputs, key=lambda store: not (store.value.op in APART and store.value.number in needed)):
            if store.at:
                self._prepare_parts(store)
            else:
                self._keep(store.value, tensor=store.tensor)
        for value in views:
            self._keep(value)
        again = [store for store in outputs if self._tensor(store.value) is not store.tensor]
        return self._grouped(again)

    def _prepare_parts(self, store: Store) -> None:
        """Prepares the parts of a concatenation or a scattered value, which other kernels cannot read."""
        for part in store.value.args if store.value.op is Op.CAT else (store.value,):
            self._prepare(part, self.space_of(part), root=True)
        for index in store.at:
            self._prepare(index, self.space_of(store.value))

    def _tensor(self, value: Value) -> Tensor | None:
        store = self.kept.get(value.number)
        return store.tensor if store else None

    def _keep(self, value: Value, dtype: str | None = None, tensor: Tensor | None = None) -> None:
        if value.number in self.kept or value.number in self.inputs:
            return
        self._prepare_args(value)
        self.kept[value.number] = Store(value=value, tensor=tensor or self._scratch(value, dtype))

    def _scratch(self, value: Value, dtype: str | None) -> Tensor:
        own = value.dtype if value.op in APART else _scratch_dtype(value)
        tensor = Tensor(self._free_name(self._wanted_name(value)), dtype or own, value.shape)
        self.scratch.append(tensor)
        return tensor

    def _wanted_name(self, value: Value) -> str:
        is_found_by_row = value.number in self._summed and self.spaces(value)
        if is_found_by_row and value.number not in self.graph.names:
            return f"{self._summed[value.number]}_of_rows"
        # Kernels have a sum of their own while they add up.
        return re.sub(r"^(sum|mean)(?=_of|$)", r"\1s", called(self.graph, value))

    def _free_name(self, wanted: str) -> str:
        taken = {tensor.name for tensor in (*self.inputs.values(), *self.scratch)} | self.reserved
        taken |= {store.tensor.name for store in self.kept.values()} | RESERVED
        name, count = wanted, 1
        while name in taken:
            count += 1
            name = f"{wanted}_{count}"
        return name

    def _prepare_args(self, value: Value) -> None:
        if value.op in APART:
            for arg, dtype in zip(value.args, operand_dtypes(value), strict=True):
                if value.op is Op.CAT and arg.op not in APART:
                    self._prepare(arg, self.space_of(arg), root=True)
                elif self._is_inline(value, arg):
                    self._prepare(arg, self.space_of(arg))
                elif not is_host(arg):
                    self._keep(base_of(arg) if value.op is Op.LIBRARY else arg, dtype)
            return
        self._prepare(value, self.space_of(value), root=True)

    def _is_inline(self, value: Value, arg: Value) -> bool:
        """Lists are linked before anything is computed, by indices that lie in memory."""
        return value.op in INLINE and not self.spaces(arg) and not (value.op is Op.LISTS and arg is value.first)

    def _prepare(self, value: Value, space: Space, root: bool = False) -> None:
        """Sees to it that a kernel over `space` can compute the value: what it cannot is left in memory for it."""
        if value.number in self.inputs or is_host(value) or (value.number in self.kept and not root):
            return
        if value.op in APART and not root:
            self._keep(value)
            return
        foreign = self.spaces(value) - {space}
        if not root and len(foreign) == 1 and self._is_small(value, *foreign) and self.space_of(value) != space:
            self._keep(value)
            return
        if not root and is_reduction(value) and self.own_space(value) != space:
            self._keep(value)
            return
        for arg in value.args:
            self._prepare(arg, space)

    def _is_small(self, value: Value, space: Space) -> bool:
        """One number for each row or column of that space, and no view that only repeats or moves it."""
        if value.op in (Op.BROADCAST, Op.RESHAPE, Op.PERMUTE):
            return False
        count = self.graph.numel(value)
        return count == (space.columns if space.kind == COLUMNS else space.rows)

    def own_space(self, value: Value) -> Space:
        """The iteration space of a reduction: its rows or columns."""
        product, shape = self.graph.cases.product, value.first.shape
        if value.op is Op.COLUMNS:
            cut = value.attr(Reduced).dims
            return Space(COLUMNS, product(shape[:cut]), product(shape[cut:]))
        cut = len(shape) - value.attr(Reduced).dims
        rows, columns = product(shape[:cut]), product(shape[cut:])
        inner = elements_between(value, self.graph.cases)
        if inner is not None and self._fills_warps(rows):
            return Space(STRIDED, rows, columns, inner=inner)
        return Space(ROWS, rows, columns, int(value.first.op is Op.PERMUTE))

    def _fills_warps(self, rows: Size) -> bool:
        """Whether there is a warp of neighbouring rows for every multiprocessor in some timed case."""
        return any(rows.values[case] >= 32 * few(self.graph.gpu) for case in self.graph.cases.timed)

    def spaces(self, value: Value) -> frozenset[Space]:
        """The iteration spaces of all reductions needed to compute a value from stored ones."""
        if value.number in self.inputs or value.op in APART or is_host(value):
            return frozenset()
        if value.number not in self._reductions:
            found = frozenset().union(*(self.spaces(arg) for arg in value.args))
            if is_reduction(value):
                self._own_spaces[value.number] = self.own_space(value)
                found |= {self._own_spaces[value.number]}
            self._reductions[value.number] = found
        return self._reductions[value.number]

    def space_of(self, value: Value) -> Space:
        """The space of the kernel that computes it."""
        if is_reduction(value):
            return self.own_space(value)
        count, one = self.graph.numel(value), self.graph.cases.one()
        if value.op is Op.TOPK:
            return Space(ALONE, one, count, -1 - value.first.number)
        if value.op in APART:
            return Space(ALONE, one, count, value.number)
        fitting = (space for space in self._around(value, count) if self._is_aligned(value, space))
        return next(fitting, Space(ELEMENTS, one, count))

    def _around(self, value: Value, count: Size) -> list[Space]:
        """The spaces in which a kernel may compute the value: as an element of every row, or as a number for each."""
        found = sorted(
            (space for space in self.spaces(value) if space.kind in (ROWS, STRIDED)),
            key=lambda space: space.columns.text,
        )
        whole = [space for space in found if space.rows * space.columns == count and space.number == 0]
        return [*whole, *(space for space in found if space.rows == count)]

    def _is_aligned(self, value: Value, space: Space) -> bool:
        key = value.number, space
        if key not in self._aligned:
            self._aligned[key] = is_aligned(value, space, self._own_spaces, self.inputs, self.graph.cases)
        return self._aligned[key]

    def _grouped(self, doubles: Sequence[Store]) -> Schedule:
        groups: list[Group] = []
        made_by: dict[int, int] = {}
        for store in [*self.kept.values(), *doubles]:
            space = self.space_of(store.value)
            if store.value.op is Op.CAT:
                self._place_cat(store, groups, made_by)
                continue
            made_by.setdefault(store.value.number, self._place(store, space, groups, made_by))
        held = {**self.inputs, **{store.value.number: store.tensor for store in self.kept.values()}}
        return Schedule(tuple(groups), tuple(self.scratch), held, made_by)

    def _place_cat(self, store: Store, groups: list[Group], made_by: dict[int, int]) -> None:
        """Stores the parts of a concatenation in place; parts of one size share a kernel. Results of separate steps are
        copied there."""
        dim, start, one = store.value.attr(Axis).dim, self.graph.cases.size(0), self.graph.cases.one()
        for part in store.value.args:
            piece = replace(store, value=part, dim=dim, start=start)
            space = Space(ELEMENTS, one, self.graph.numel(part)) if part.op in APART else self.space_of(part)
            index = self._place(piece, space, groups, made_by, made_by.get(part.number, 0))
            made_by[store.value.number] = max(index, made_by.get(store.value.number, 0))
            text = part.shape[dim].text if start.text == "0" else f"{start.text} + {part.shape[dim].text}"
            start = self.graph.cases.size(text)

    def _place(
        self, store: Store, space: Space, groups: list[Group], made_by: Mapping[int, int], after: int = 0
    ) -> int:
        after = max(after, self._last_needed(store.value, made_by))
        for index, group in enumerate(groups):
            shared = self._shared(group.space, space)
            if shared and index >= after:
                group.space = shared
                group.stores.append(store)
                return index
        groups.append(Group(space, [store]))
        return len(groups) - 1

    @staticmethod
    def _shared(one: Space, other: Space) -> Space | None:
        """The space of a kernel that does the work of both, where one can: rows and columns see every element."""
        if one == other and (one.kind != ALONE or one.number < 0):
            return one
        if ALONE in (one.kind, other.kind):
            return None
        for wide, narrow in ((one, other), (other, one)):
            if wide.number:
                continue
            if wide.kind != ELEMENTS and narrow.kind == ELEMENTS and wide.rows * wide.columns == narrow.columns:
                return wide
            if (wide.kind, narrow.kind) == (ROWS, COLUMNS) and (wide.rows, wide.columns) == (
                narrow.rows,
                narrow.columns,
            ):
                return wide
        return None

    def _last_needed(self, value: Value, made_by: Mapping[int, int]) -> int:
        """The last group whose results a kernel for this value reads."""
        numbers = [made_by[item.number] for item in walk([value]) if item is not value and item.number in made_by]
        return max(numbers, default=0)


def _summand(value: Value) -> Value | None:
    """The value whose sum or mean is the result."""
    value = under_views(value)
    if value.op in (Op.SUM, Op.COLUMNS):
        return under_views(value.first)
    is_share = value.op in (Op.MUL, Op.DIV, Op.NEG) and all(map(is_host, value.args[1:]))
    return _summand(value.first) if is_share else None


def _scratch_dtype(value: Value) -> str:
    return "fp32" if value.kind == FLOAT else "int64" if value.kind == INT else "bool"


def operand_dtypes(value: Value) -> tuple[str | None, ...]:
    """The types that a library call takes its operands in; other steps take what there is."""
    if isinstance(value.attrs, LibraryCall):
        return value.attrs.dtypes
    return (None,) * len(value.args)


def base_of(value: Value) -> Value:
    """The operand of a library call, below views that a tensor can represent."""
    while value.op in (Op.PERMUTE, Op.RESHAPE):
        value = value.first
    return value


def reachable(roots: Sequence[Value], held: Mapping[int, Tensor]) -> list[Value]:
    """The values a kernel computes itself for these roots: everything up to what lies in memory."""
    found: dict[int, Value] = {}

    def visit(value: Value) -> None:
        if value.number in found or value.number in held or value.op in HOST:
            return
        for arg in value.args:
            visit(arg)
        found[value.number] = value

    for root in roots:
        visit(root)
    return list(found.values())
