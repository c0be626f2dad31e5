"""Sizes: equal where they agree on every case, and written in C++ as they are meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir.sizes import Cases, in_cpp
from warpwright.core.formula import evaluate

CASES = Cases([{"N": 6, "C": 12, "G": 4}, {"N": 5, "C": 9, "G": 3}], ["N*C"])
NAMES = st.sampled_from(["N", "C", "G", "2", "7"])
FORMULAS = st.recursive(
    NAMES,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "*", "//", "-"]), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})")
        | inner.map(lambda base: f"(({base})**2)")
    ),
)


def test_formulas_that_agree_on_every_case_are_one_size() -> None:
    assert CASES.size("C // G * G") == CASES.size("C")
    assert CASES.size("C") != CASES.size("N")
    assert hash(CASES.size("C // G * G")) == hash(CASES.size("C"))


def test_a_size_is_written_as_people_would() -> None:
    assert CASES.product([CASES.size("C"), CASES.size("N")]).text == "N*C"
    assert CASES.size("C").is_one is False
    assert CASES.product([]).is_one


@given(FORMULAS, st.integers(1, 50), st.integers(1, 50), st.integers(1, 50))
def test_cpp_means_what_the_formula_means(formula: str, n: int, c: int, g: int) -> None:
    """Held against Python for results that stay positive, where C++ divides as Python does."""
    names = {"N": n, "C": c, "G": g}
    try:
        expected = evaluate(formula, names)
    except Exception:
        return
    if "-" in formula:
        return
    written = in_cpp(formula, {name: str(value) for name, value in names.items()}).text.replace("/", "//")
    assert eval(written) == expected


def test_a_size_that_no_argument_shows_is_refused() -> None:
    with pytest.raises(CannotCompose, match="the size Q"):
        in_cpp("Q + 1", {"N": "n"})
