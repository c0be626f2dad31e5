"""Statements as lines of C++."""

from __future__ import annotations

import pytest

from warpwright.compose.code.definitions import Definition, Parameter, verbatim
from warpwright.compose.code.printer import laid_out, printed
from warpwright.compose.code.statements import (
    FULLY,
    Also,
    Assign,
    Blank,
    Block,
    Call,
    Comment,
    Dispatch,
    Do,
    Form,
    If,
    Lambda,
    Launch,
    Let,
    Loop,
    Statement,
    Wait,
    under,
)
from warpwright.compose.code.text import as_code, code

STOP = Do("return")


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        (Let("const float", "x", code("{y} + 1")), ["const float x = y + 1;"]),
        (Let("float", "scores", extent="VEC", also=(Also("best", "0"),)), ["float scores[VEC], best = 0;"]),
        (Let("int", "a", "1", (Also("b", "2"),), comment="Two."), ["int a = 1, b = 2;  // Two."]),
        (Assign(code("{y}[i]"), code("{x}"), "+="), ["y[i] += x;"]),
        (under("a < b", [STOP]), ["if (a < b) return;"]),
        (under("a < b", [STOP, STOP]), ["if (a < b) {", "    return;", "    return;", "}"]),
        (If("a", (STOP,), (Do("f()"),)), ["if (a) {", "    return;", "} else {", "    f();", "}"]),
        (If("a", (STOP,), (Do("f()"),), form=Form.BESIDE), ["if (a) return;", "else f();"]),
        (If("a", (STOP,), form=Form.BELOW), ["if (a)", "    return;"]),
        (Loop("int k = 0;;", (STOP,), FULLY, form=Form.BESIDE), ["#pragma unroll", "for (int k = 0;;) return;"]),
        (Loop("; ;", (Blank(), STOP), 4), ["#pragma unroll 4", "for (; ;) {", "", "    return;", "}"]),
        (Lambda("f", "int i", (STOP,), "int"), ["const auto f = [&](int i) -> int {", "    return;", "};"]),
        (Block((Comment("Why."),)), ["{", "    // Why.", "}"]),
        (Dispatch("x.scalar_type()", (STOP,)), ["DISPATCH(x.scalar_type(), [&] {", "    return;", "});"]),
        (Call("f", ("a", "b"), returns=True), ["return f(a, b);"]),
    ],
)  # fmt: skip
def test_a_statement_has_these_lines(statement: Statement, lines: list[str]) -> None:
    assert printed([statement]) == lines


def test_a_launch_is_checked_unless_it_starts_early() -> None:
    plain = printed([Launch("blocks", "256", ("x", "count"))])
    assert plain[0].startswith("kernel<<<blocks, 256, 0, ")
    assert plain[1] == "C10_CUDA_KERNEL_LAUNCH_CHECK();"
    early = printed([Launch("blocks", "256", ("x", "count"), is_early=True)])
    assert early == ["launch_pdl(kernel, blocks, 256, 0, x, count);"]


def test_a_call_that_is_too_long_takes_several_lines_and_keeps_its_names() -> None:
    call = laid_out(as_code("f"), [as_code(f"argument_{number}") for number in range(12)], 60)
    lines = call.text.split("\n")
    assert len(lines) > 2
    assert max(map(len, lines)) <= 60
    assert lines[0] == "f("
    assert "argument_11" in call.names


def test_a_definition_has_its_parameters_in_front_of_its_body() -> None:
    kernel = Definition(
        comments=("Does nothing.",),
        template="typename T",
        head="__global__ void f",
        parameters=(Parameter("const T* __restrict__", "x"), Parameter("int", "count")),
        body=(STOP,),
    )
    assert kernel.lines == [
        "// Does nothing.",
        "template <typename T>",
        "__global__ void f(const T* __restrict__ x, int count) {",
        "    return;",
        "}",
    ]


def test_text_that_stands_as_it_is_has_statements_in_between() -> None:
    assert verbatim("void f() {", Wait(), "}").lines == ["void f() {", "    grid_dependency_wait();", "}"]
