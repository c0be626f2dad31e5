"""Passes: what each of them does to statements."""

from __future__ import annotations

from warpwright.compose.code.definitions import Definition, Parameter, verbatim
from warpwright.compose.code.passes.again import again
from warpwright.compose.code.passes.fast_math import could_be_faster, with_fast_math
from warpwright.compose.code.passes.headers import has_parameter, headers_of, is_called
from warpwright.compose.code.passes.order import parted
from warpwright.compose.code.passes.programmatic_launch import with_programmatic_launch, without_waiting
from warpwright.compose.code.statements import Assign, Comment, Do, If, Launch, Let, Loop, Statement, Wait, under
from warpwright.compose.code.text import code
from warpwright.compose.code.traversal import divisors, names, nodes

LAUNCH = Launch("blocks", "256", ("x",))


def kernel(*body: Statement, is_kernel: bool = True, given: tuple[Parameter, ...] = ()) -> Definition:
    return Definition(head="__global__ void f", parameters=given, body=body, is_kernel=is_kernel)


def test_names_are_found_however_deep_they_are_read() -> None:
    inner = Loop(code("int k = 0; k < {count}; ++k"), (Assign(code("{y}[k]"), code("{x}[k]")),))
    assert names([If(code("{rows} > 0"), (inner,))]) == {"rows", "count", "x", "y"}


def test_a_declared_name_is_not_read() -> None:
    assert names([Let("float", "x", code("{y}"))]) == {"float", "y"}


def test_fast_math_replaces_the_exponential_wherever_it_stands() -> None:
    body = If("a", (Assign("x", code("{expf}({y}) + {expf}({z})")),))
    assert could_be_faster([body])
    (fast,) = with_fast_math([kernel(body)])
    assert "    if (a) {\n        x = fast_exp<T>(y) + fast_exp<T>(z);" in "\n".join(fast.lines)
    assert is_called("fast_exp<T>", [fast])
    assert not could_be_faster(fast.body)


def test_a_kernel_waits_first_of_all_where_it_does_not_say_when() -> None:
    silent, telling = kernel(Do("f()")), kernel(Do("g()"), Wait(), Do("h()"))
    first, second = with_programmatic_launch([silent, telling])
    assert first.body == (Wait(), Do("f()"))
    assert second.body == telling.body


def test_functions_that_are_no_kernels_do_not_wait_but_launch_early() -> None:
    (host,) = with_programmatic_launch([kernel(under("a", [LAUNCH]), is_kernel=False)])
    assert not any(isinstance(node, Wait) for node in nodes(host.body))
    assert [node.is_early for node in nodes(host.body) if isinstance(node, Launch)] == [True]


def test_nothing_waits_where_kernels_do_not_follow_each_other() -> None:
    (found,) = without_waiting([kernel(Do("f()"), under("a", [Wait(), Do("g()")]))])
    assert not any(isinstance(node, Wait) for node in nodes(found.body))
    assert [line.strip() for line in found.lines[1:-1]] == ["f();", "if (a) {", "g();", "}"]


def test_headers_are_those_of_what_is_called_taken_and_launched() -> None:
    eight_bits = Parameter("const __nv_fp8_e4m3*", "x", "cuda_fp8.h")
    item = kernel(Do(code("{std::min}(a, b)")), given=(eight_bits,))
    assert headers_of([item, verbatim("struct S;", headers=("vector",))]) == {"algorithm", "cuda_fp8.h", "vector"}
    assert headers_of([kernel(LAUNCH)]) == {"ATen/cuda/CUDAContext.h", "c10/cuda/CUDAException.h"}
    assert headers_of(with_programmatic_launch([kernel(LAUNCH)])) == set()


def test_a_parameter_is_found_by_its_type() -> None:
    assert has_parameter("FastDivisor", [kernel(given=(Parameter("FastDivisor", "C"),))])
    assert not has_parameter("FastDivisor", [kernel(given=(Parameter("int64_t", "C"),))])


def test_a_second_time_declarations_are_assignments_and_comments_are_gone() -> None:
    body = [Comment("Why."), Let("float", "x", "0.0f"), Do("f()")]
    assert again(body) == [Assign("x", "0.0f"), Do("f()")]


def test_what_waits_for_a_name_comes_after_it_and_so_does_what_waits_for_that() -> None:
    early, late = Let("const float", "a", code("{s}")), Let("const float", "b", code("{sum} + {a}"))
    later, stored = Let("const float", "c", code("{b}")), Assign(code("{y}"), code("{a}"))
    assert parted([late, early, later, stored], "sum") == ([early], [late, later, stored])


def test_divisors_are_those_of_all_statements() -> None:
    assert divisors([Do(code("f({x})"))]) == set()
