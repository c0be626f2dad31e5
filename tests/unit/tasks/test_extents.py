"""Names and formulas for sizes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.formula import evaluate_size
from warpwright.tasks.extents import Extents


@pytest.mark.parametrize(
    ("column", "formula"),
    [
        ((7, 7, 7, 7), 7),
        ((8, 3, 5, 31), "A"),
        ((16, 6, 10, 62), "2*A"),
        ((80, 30, 50, 310), "10*A"),
        ((128, 27, 65, 1023), "A*B"),
        ((14, 7, 11, 31), "B - 2"),
        ((7, 3, 5, 15), "(B - 2)//2"),
        ((8, 4, 6, 16), "B//2"),
    ],
)
def test_dependent_sizes_have_a_formula(column: tuple[int, ...], formula: object) -> None:
    extents = Extents()
    assert extents.independent((8, 3, 5, 31)) == "A"
    assert extents.independent((16, 9, 13, 33)) == "B"
    assert extents.dependent(column) == formula
    assert not extents.loose


def test_a_size_without_a_formula_is_known_to_be_loose() -> None:
    extents = Extents(taken={"A"})
    extents.independent((8, 3, 5))
    assert extents.dependent((1, 77, 2)) == "C"
    assert extents.loose == {"C"}


@given(
    st.lists(st.lists(st.integers(1, 50), min_size=4, max_size=4), min_size=1, max_size=4),
    st.lists(st.integers(0, 99), min_size=4, max_size=4),
)
def test_every_formula_gives_the_sizes_it_was_made_from(columns: list[list[int]], last: list[int]) -> None:
    extents = Extents()
    made = [(extents.independent(tuple(column)), column) for column in columns]
    made.append((extents.dependent(tuple(last)), last))
    for run in range(4):
        for formula, column in made:
            assert evaluate_size(formula, extents.dims(run)) == column[run]
