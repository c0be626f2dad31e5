"""What the front makes of CUDA text; that the result compiles and runs is tested with the headers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.cpp.tokens import Code
from warpwright.seal.capture.front import rewrite

_CALL = "::warpwright::launched(::warpwright::here()"


def squeezed(text: str, **options: bool) -> str:
    return re.sub(r"\s+", " ", rewrite(text, **options)).replace(" ;", ";").strip()


@pytest.mark.parametrize(
    ("launch", "callee", "configuration"),
    [
        ("k<<<1, 2>>>(a)", "k", "1, 2"),
        ("ns::k<float, 4><<<g, b, s, t>>>(a)", "ns::k<float, 4>", "g, b, s, t"),
        ("::k<<<1, n >> 3>>>(a)", "::k", "1, n >> 3"),
        ("k<T, (N > 2)><<<1, 2>>>(a)", "k<T, (N > 2)>", "1, 2"),
        ("k<A<B<int>>><<<1, 2>>>(a)", "k<A<B<int>>>", "1, 2"),
        ("(c ? k1 : k2)<<<1, 2>>>(a)", "(c ? k1 : k2)", "1, 2"),
        ("table[i]<<<1, 2>>>(a)", "table[i]", "1, 2"),
        ("choose<3>(x)<<<1, 2>>>(a)", "choose<3>(x)", "1, 2"),
        ("Foo<T>::template k<3><<<1, 2>>>(a)", "Foo<T>::template k<3>", "1, 2"),
        ("object.kernel<<<1, 2>>>(a)", "object.kernel", "1, 2"),
        ("this->kernel<<<1, 2>>>(a)", "this->kernel", "1, 2"),
        ("k<<<grid<256>(n), sizeof(A<B<C<int>>>)>>>(a)", "k", "grid<256>(n), sizeof(A<B<C<int>>>)"),
        ("k<<<dim3(1, 2), [&]{ return 3; }()>>>(a)", "k", "dim3(1, 2), [&]{ return 3; }()"),
        ("k<<<1, Foo<Bar<3>>::x>>>(a)", "k", "1, Foo<Bar<3>>::x"),
    ],
)
def test_a_launch_is_a_configured_call(launch: str, callee: str, configuration: str) -> None:
    assert squeezed(f"{{ {launch}; }}").replace(" (a)", "(a)") == (
        f"{{ (::warpwright::configure({configuration}), {callee}(a)); }}"
    )


def test_launches_may_be_nested_and_follow_return() -> None:
    text = squeezed("return k<<<1, 2>>>([&]{ j<<<3, 4>>>(); });")
    assert text.replace(" (", "(") == (
        "return(::warpwright::configure(1, 2), k([&]{(::warpwright::configure(3, 4), j()); }));"
    )


@pytest.mark.parametrize(
    "text", ['f("k<<<1, 2>>>(x)");', "std::cout << x << y;", "operator<<<int>(s, x);", "k<<<1, 2;"]
)
def test_what_is_no_launch_stays(text: str) -> None:
    assert rewrite(text) == text


@pytest.mark.parametrize(
    ("parameters", "recorded"),
    [
        ("", ""),
        ("void", ""),
        ("const float* __restrict__ x, int n", ", x, n"),
        ("float x[], std::array<int, 4> q", ", x, q"),
        ("at::PackedTensorAccessor32<float, 2, at::RestrictPtrTraits> a", ", a"),
        ("T... rest", ", rest..."),
        ("float (&r)[3], void (*f)(int)", ", r, f"),
        ("const __grid_constant__ P p, int n = (1 < 2)", ", p, n"),
        ("unsigned int n, struct S s", ", n, s"),
    ],
)
def test_a_kernel_records_its_parameters(parameters: str, recorded: str) -> None:
    text = squeezed(f'template <class T> __global__ void k({parameters}) {{ asm("x"); }}')
    assert text.endswith(f"{{ {_CALL}{recorded}); }}")
    assert "asm" not in text


@pytest.mark.parametrize(
    "parameter", ["int", "unsigned long", "const float*", "ns::T", "typename T::type", "const T", "float* __restrict__"]
)
def test_unnamed_parameters_get_a_name(parameter: str) -> None:
    text = squeezed(f"__global__ void k({parameter}, int n) {{}}")
    assert f"({parameter} warpwright_unnamed_0, int n)" in text
    assert f"{_CALL}, warpwright_unnamed_0, n)" in text


@pytest.mark.parametrize(
    "head",
    [
        "__global__ void __launch_bounds__(256, 2) k(int n)",
        "void __global__ k(int n)",
        "static __global__ __cluster_dims__(2, 1, 1) void k(int n)",
        'extern "C" __global__ void k(int n)',
        "template <typename T, int N = 4> __global__ void k(int n)",
        "template <> __global__ void k<float>(int n)",
        "__global__ auto k(int n) -> void",
    ],
)
def test_every_form_of_kernel_is_found(head: str) -> None:
    text = squeezed(head + " { body(); }")
    assert f"{_CALL}, n); }}" in text
    assert not re.search(r"__global__|__launch_bounds__|__cluster_dims__|body", text)


def test_declarations_of_kernels_stay_declarations() -> None:
    assert squeezed("__global__ void k(int);") == "__attribute__((noinline, used)) void k(int);"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("__device__ float f(float x) { return __expf(x); }", "float f(float x);"),
        ('template <class T> __device__ __forceinline__ T f(T x) { asm(""); }', "template <class T> T f(T x);"),
        ("__device__ auto f() -> std::pair<int, int> { return {}; }", "auto f() -> std::pair<int, int>;"),
        ('struct S { __device__ S(int a) : a(a), b{1} { asm(""); } int a, b; };', "struct S { S(int a); int a, b; };"),
        (
            "struct S { __device__ int operator()(int x) const { return 1; } };",
            "struct S { int operator()(int x) const; };",
        ),
        ("struct S { __device__ ~S() { free(p); } };", "struct S { ~S() {} };"),
        ("__device__ int S::f() { return 1; }", "int S::f() { __builtin_unreachable(); }"),
        (
            "__device__ S& S::operator=(const S& o) { return *this; }",
            "S& S::operator=(const S& o) { __builtin_unreachable(); }",
        ),
    ],
)
def test_device_bodies_go(text: str, kept: str) -> None:
    assert squeezed(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "{words} int f(int a) { return a; }",
        "struct S { {words} int f() const { return 1; } };",
        "auto l = [=] {words} (int i) { return i; };",
    ],
)
@pytest.mark.parametrize("words", ["__host__ __device__", "__device__ __host__"])
def test_functions_for_both_sides_keep_theirs(text: str, words: str) -> None:
    assert squeezed(text.replace("{words}", words)) == re.sub(r"\s+", " ", text.replace("{words}", "")).strip()


def test_constexpr_device_functions_keep_theirs() -> None:
    assert squeezed("__device__ constexpr int f() { return 1; }") == "constexpr int f() { return 1; }"


def test_bodies_for_both_sides_can_be_dropped_but_not_constexpr_ones() -> None:
    text = "__host__ __device__ int f() { return 1; } __host__ __device__ constexpr int g() { return 2; }"
    assert squeezed(text, keep_host_device=False) == "int f(); constexpr int g() { return 2; }"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("static __device__ __constant__ float w[4] = {1, 2};", "static float w[4] = {1, 2};"),
        ("extern __shared__ float s[];", "extern float s[];"),
        ("__device__ int counter;", "int counter;"),
        ("__managed__ S s{1};", "S s{1};"),
    ],
)
def test_device_variables_become_host_variables(text: str, kept: str) -> None:
    assert squeezed(text) == kept


def test_lines_and_line_markers_stay_and_pragmas_of_dropped_bodies_go() -> None:
    text = '# 7 "a.cu"\n__global__ void k(int n)\n{\n#pragma GCC unroll 4\n  for (;;) {}\n# 90 "b.h"\n}\nint x;\n'
    lines = rewrite(text).splitlines()
    assert len(lines) == len(text.splitlines())
    assert (lines[0], lines[3], lines[5], lines[7]) == ('# 7 "a.cu"', "", '# 90 "b.h"', "int x;")


_WORDS = "__global__ __device__ __host__ __launch_bounds__ void int k template operator"
_SIGNS = '<<< >>> ( ) { } < > :: , ; : [ ] = ... ~ * # "'
_PIECES = st.sampled_from([*_WORDS.split(), *_SIGNS.split(), "\n"])


@given(st.lists(_PIECES, max_size=60).map(" ".join))
def test_no_text_makes_it_fail_or_lose_lines(text: str) -> None:
    assert rewrite(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("piece", ["k <<< ", "> <<< ", "__device__ a ", "__global__ f < ", "( < "])
def test_hostile_text_costs_as_much_a_word_however_long_it_is(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0
    plain = Code.text

    def counted(code: Code, position: int) -> str:
        nonlocal looked_at
        looked_at += 1
        return plain(code, position)

    monkeypatch.setattr(Code, "text", counted)
    costs = []
    for times in (1500, 3000):
        looked_at = 0
        rewrite(piece * times)
        costs.append(looked_at)
    assert costs[1] < 3 * costs[0]
