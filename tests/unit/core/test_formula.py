"""Formulas compute what Python would, and refuse everything else without harm."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.errors import UsageError
from warpwright.core.formula import evaluate, evaluate_size, names_in

NAMES = {"M": 3, "N": 17, "K": 128, "e": 2}

formulas = st.recursive(
    st.sampled_from(sorted(NAMES)) | st.integers(0, 99).map(str),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
            lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})"
        ),
        inner.map(lambda text: f"-{text}"),
        inner.map(lambda text: f"({text} // 7)"),
        inner.map(lambda text: f"ceil({text} / 4)"),
    ),
    max_leaves=12,
)


@given(formulas)
def test_a_formula_means_what_python_means(formula: str) -> None:
    assert evaluate(formula, NAMES) == eval(formula, {"ceil": math.ceil, **NAMES})
    assert names_in(formula) <= NAMES.keys()


@given(st.text(max_size=30) | st.text(alphabet="MN0123456789+-*/()., ", max_size=30))
def test_any_other_text_is_a_usage_error(text: str) -> None:
    for function in (evaluate, evaluate_size):
        with contextlib.suppress(UsageError):
            function(text, NAMES)


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os').getcwd()",
        "M.bit_length()",
        "[M][0]",
        "lambda: 1",
        "M if N else K",
        "f'{M}'",
        "'M'",
        "open",
        "min(M, key=N)",
        "min(*M)",
        "max()",
        "",
        "M N",
        "Q",
        "1/0",
        "2**17",
        "(-1)**0.5",
        "ceil(1e308*10)",
        "0**-1",
        "-" * 20_000 + "1",
        "(" * 500 + "1" + ")" * 500,
    ],
)
def test_forbidden_formulas_are_refused(formula: str) -> None:
    with pytest.raises(UsageError):
        evaluate(formula, NAMES)


def test_a_tower_of_powers_does_not_exhaust_memory() -> None:
    tower = "9"
    for _ in range(12):
        tower = f"({tower})**16"
    with pytest.raises(UsageError, match="out of range"):
        evaluate(tower, NAMES)


@pytest.mark.parametrize("formula", ["M/2", "-1", "2.5", "1e300", "10**16 * 10**16", "1e308 * 10 - 1e308 * 10"])
def test_a_value_that_is_not_a_size_is_refused(formula: str) -> None:
    with pytest.raises(UsageError):
        evaluate_size(formula, NAMES)


@pytest.mark.parametrize(("formula", "size"), [("M*N", 51), (7, 7), ("K/2", 64), ("ceil(N/4)*e", 10), ("0", 0)])
def test_sizes_are_whole_numbers(formula: str | int, size: int) -> None:
    found = evaluate_size(formula, NAMES)
    assert found == size
    assert type(found) is int


def test_names_in_omits_functions_and_refuses_malformed_text() -> None:
    assert names_in("max(M, ceil(N/4))*e") == {"M", "N", "e"}
    assert names_in(3) == frozenset()
    for nonsense in ("M +", "\0", "-" * 20_000 + "1"):
        with pytest.raises(UsageError):
            names_in(nonsense)
