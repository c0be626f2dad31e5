"""Expressions: text that knows which names it reads and which functions it calls."""

from __future__ import annotations

import pytest

from warpwright.compose.code.text import KNOWN, Code, Function, Word, as_code, code, joined


def test_a_field_that_is_not_given_is_a_name_that_is_read() -> None:
    found = code("{x}[{row} * {columns} + k]")
    assert found.text == "x[row * columns + k]"
    assert found.names == {"x", "row", "columns"}


def test_a_name_that_is_given_is_read_and_a_number_is_not() -> None:
    found = code("{tensor} + {offset}", tensor="grad_y", offset=4)
    assert (found.text, found.names) == ("grad_y + 4", {"grad_y"})


def test_parts_of_an_expression_keep_their_names() -> None:
    inner = code("{a} * {b}")
    outer = code("{c} + ({inner})", inner=inner)
    assert (outer.text, outer.names) == ("c + (a * b)", {"a", "b", "c"})
    assert joined(", ", [inner, outer, "d"]).names == {"a", "b", "c", "d"}


def test_functions_of_the_standard_library_know_their_headers() -> None:
    found = code("{std::min}<int64_t>({rows}, {std::max}(a, b))")
    assert found.text == "std::min<int64_t>(rows, std::max(a, b))"
    assert {function.header for function in found.functions} == {"algorithm"}
    assert found.names == {"rows"}


def test_a_call_knows_its_function() -> None:
    assert code("{to_e4m3}({x})").called == KNOWN["to_e4m3"]
    assert code("2 * {to_e4m3}({x})").called is None


def test_only_what_positions_are_divided_by_is_a_divisor() -> None:
    size = Code((Word("columns", divides=True),))
    assert code("{i} / {size}", size=size).divisors == {"columns"}
    assert code("{x} / {y}").divisors == set()


def test_neighbouring_text_is_one_part_so_that_a_name_stands_alone() -> None:
    assert as_code("x").parts == (Word("x"),)
    assert code("{a}{b}", a="1.0f", b="").parts == ("1.0f",)
    assert code("f({x})", x=Function("g")).parts == ("f(", Function("g"), ")")


def test_an_expression_does_not_lose_its_names_in_an_f_string() -> None:
    with pytest.raises(TypeError, match="f-string"):
        f"{code('{x}')}"
