"""Indices: whatever views lie between, the element that is read is the one that was meant."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from warpwright.compose.ir import index_code, indices
from warpwright.compose.ir.indices import PACK, ROW, Total, Var
from warpwright.compose.ir.sizes import Cases, Size

CASES = Cases([{}])
BOX = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def sizes(extents: list[int]) -> list[Size]:
    return [CASES.size(extent) for extent in extents]


def at(index: indices.Index | None, **values: int) -> int:
    found = eval(index_code.written(index, lambda size: str(size.values[0])).text.replace("/", "//"), {}, values)
    assert isinstance(found, int)
    return found


def coordinates(position: int, extents: list[int]) -> list[int]:
    found = []
    for extent in reversed(extents):
        position, inner = divmod(position, extent)
        found.append(inner)
    return found[::-1]


@given(BOX, st.data())
def test_coordinates_of_a_position(extents: list[int], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, math.prod(extents) - 1))
    place = indices.unravel(Var("i", PACK, innermost=True), sizes(extents), CASES)
    assert [at(index, i=position) for index in place] == coordinates(position, extents)


@given(BOX)
def test_what_was_split_is_put_together_again(extents: list[int]) -> None:
    base = Var("i", PACK, innermost=True)
    place = indices.unravel(base, sizes(extents), CASES)
    assert indices.ravel(place, sizes(extents), CASES) == (base if math.prod(extents) > 1 else None)


@given(BOX, BOX, st.data())
def test_rows_and_columns_in_a_box_of_another_shape(outer: list[int], inner: list[int], data: st.DataObject) -> None:
    rows, columns = math.prod(outer), math.prod(inner)
    row, column = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    base = Total(((Var("row", ROW), CASES.size(columns)), (Var("column", PACK, True), CASES.one())))
    place = indices.unravel(base, sizes([*outer, *inner]), CASES)
    assert [at(index, row=row, column=column) for index in place] == coordinates(
        row * columns + column, [*outer, *inner]
    )


@given(st.lists(st.integers(1, 5), min_size=4, max_size=4), st.data())
def test_rows_that_end_within_a_side(extents: list[int], data: st.DataObject) -> None:
    """As groups of channels do: the position is found again, and no side is divided that need not be."""
    batch, groups, share, plane = extents
    rows, columns, box = batch * groups, share * plane, [batch, groups * share, plane]
    row, column = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    base = Total(((Var("row", ROW), CASES.size(columns)), (Var("column", PACK, True), CASES.one())))
    place = indices.unravel(base, sizes(box), CASES)
    found = [at(index, row=row, column=column) for index in place]
    assert found == coordinates(row * columns + column, box)
    assert indices.ravel(place, sizes(box), CASES) in (base, None)


@given(BOX, BOX, st.data())
def test_motion_within_a_pack(outer: list[int], inner: list[int], data: st.DataObject) -> None:
    """Where the sizes that motion names are multiples of the pack, still indices stand and stepping ones step."""
    extents, pack = [*outer, *inner], 2
    base = Var("i", PACK, innermost=True)
    for index in indices.unravel(base, sizes(extents), CASES):
        moved = indices.motion(index, CASES)
        if math.prod(extents) % pack or any(size.values[0] % pack for size in moved.multiples):
            continue
        start = data.draw(st.integers(0, math.prod(extents) // pack - 1)) * pack
        step = at(index, i=start + 1) - at(index, i=start)
        assert step == {"still": 0, "step": 1}.get(moved.kind, step)


def test_what_is_left_out_between_two_coordinates_keeps_its_place() -> None:
    """A part of a concatenation that is one row thick lies in tensors that are thicker."""
    place = indices.unravel(Var("i", PACK), sizes([3, 1, 7]), CASES)
    thicker = indices.ravel(place, sizes([3, 5, 7]), CASES)
    assert [at(thicker, i=position) for position in range(21)] == [i // 7 * 35 + i % 7 for i in range(21)]
