"""Iteration spaces of kernels, and the position of an element within them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import PACK, ROW, Index, Place, Run, Total, Var, unravel
from warpwright.compose.ir.operands import Element, operands
from warpwright.compose.ir.operations import APART, REDUCTIONS, Op, Permuted, Reduced
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.compose.ir.values import Value, is_host

ROWS, STRIDED, COLUMNS, ELEMENTS, ALONE = "rows", "strided", "columns", "elements", "alone"


@dataclass(frozen=True, slots=True)
class Space:
    """The iteration space of a kernel: rows and columns, or a number of elements."""

    kind: str
    rows: Size
    columns: Size
    number: int = 0
    """Tells apart what must not share a kernel: one for rows that do not lie in memory as rows, below zero for what
    one step of its own gives together."""
    inner: Size | None = None
    """The elements between neighbours of a strided row; None if a row's elements are neighbours."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The loop variables of a kernel that reduces: the index of a result, and that of an element of its row."""

    result: Index
    along: Index


def axes(space: Space) -> Axes:
    """Neighbouring threads take neighbouring elements: of one row, or of several if rows are strided."""
    if space.kind == STRIDED:
        return Axes(Var("column", ROW, innermost=True), Var("row", PACK))
    return Axes(Var("row", ROW), Var("column", PACK, innermost=True))


def position(space: Space, cases: Cases) -> Index:
    """The position in memory of an element of a row, in a tensor of all rows."""
    found, one = axes(space), cases.one()
    if space.inner is None:
        return Total(((found.result, space.columns), (found.along, one)))
    if space.inner == space.rows:
        return Total(((found.along, space.inner), (found.result, one)))
    before, behind = Run(found.result, space.inner, None), Run(found.result, one, space.inner)
    whole = cases.product([space.columns, space.inner])
    return Total(((before, whole), (found.along, space.inner), (behind, one)))


def place_of_operand(reduction: Value, space: Space, cases: Cases) -> Place:
    """The place of an element of the operand of a reduction over the rows of the space."""
    shape = reduction.first.shape
    if space.inner is None:
        return unravel(position(space, cases), shape, cases)
    cut = len(shape) - reduction.attr(Reduced).dims
    found = axes(space)
    return (*unravel(found.result, shape[:cut], cases), *unravel(found.along, shape[cut:], cases))


def elements_between(reduction: Value, cases: Cases) -> Size | None:
    """The elements between neighbours of a row, if the reduced dimensions lie side by side in front of others."""
    operand = reduction.first
    if operand.op is not Op.PERMUTE:
        return None
    order, sizes = operand.attr(Permuted).order, operand.first.shape
    cut = len(order) - reduction.attr(Reduced).dims
    kept, listed = ([dim for dim in part if not sizes[dim].is_one] for part in (order[:cut], order[cut:]))
    behind = [dim for dim in kept if listed and dim > listed[-1]]
    side_by_side = not any(listed and listed[0] < dim < listed[-1] for dim in kept)
    if not behind or kept != sorted(kept) or listed != sorted(listed) or not side_by_side:
        return None
    return cases.product(sizes[dim] for dim in behind)


def is_aligned(
    value: Value, space: Space, own_space: Mapping[int, Space], inputs: Container[int], cases: Cases
) -> bool:
    """Whether every reduction over the space that the value needs is needed in its own row only.

    `own_space` has the spaces of the reductions between the inputs and the value. A reduction over another space lies
    in memory.
    """
    inside = cases.product(value.shape) == space.rows * space.columns
    start = position(space, cases) if inside else axes(space).result
    waiting: list[Element] = [(value, unravel(start, value.shape, cases))]
    seen: set[Element] = set()
    while waiting:
        element = waiting.pop()
        if element in seen or is_host(element[0]):
            continue
        seen.add(element)
        if element[0].number in own_space:
            if not _is_own_row(*element, space, own_space, cases):
                return False
            waiting += _below(element[0], space, own_space, cases)
        elif element[0].op not in APART and element[0].number not in inputs:
            waiting += operands(*element, cases)
    return True


def _is_own_row(reduction: Value, place: Place, space: Space, own_space: Mapping[int, Space], cases: Cases) -> bool:
    if own_space[reduction.number] != space:
        return True
    where = indices.ravel(place, reduction.shape, cases)
    return where == axes(space).result or (where is None and cases.product(reduction.shape).is_one)


def _below(reduction: Value, space: Space, own_space: Mapping[int, Space], cases: Cases) -> Iterator[Element]:
    if own_space[reduction.number] == space:
        yield reduction.first, place_of_operand(reduction, space, cases)


def is_reduction(value: Value) -> bool:
    return value.op in REDUCTIONS or value.op is Op.COLUMNS
