"""The emulator's front: what each CUDA word becomes, and that every line stays where it was."""

from __future__ import annotations

import pytest

from warpwright.emulate.program.front import rewrite
from warpwright.seal.refusal import Refused

KERNEL = """template <typename T, int N>
__global__ void __launch_bounds__(N) k(const T* __restrict__ x, T* y,
                                       int) {
  __shared__ float a[N][N + 1], b;
  y[0] = x[0];
}
"""


def squeezed(text: str) -> str:
    return " ".join(rewrite(text).split())


def test_lines_stay() -> None:
    assert rewrite(KERNEL).count("\n") == KERNEL.count("\n")
    assert rewrite(KERNEL).splitlines()[4].strip() == "y[0] = x[0];"


def test_a_kernel_queues_its_body_with_its_arguments() -> None:
    text = squeezed(KERNEL)
    assert "__attribute__((noinline, used)) void k(const T* __restrict__ x, T* y, int warpwright_unnamed_2)" in text
    assert "__PRETTY_FUNCTION__, [](const T* __restrict__ x, T* y, int warpwright_unnamed_2) {" in text
    assert text.endswith("}, x, y, warpwright_unnamed_2); }")
    assert "__launch_bounds__" not in text


def test_a_pack_is_expanded() -> None:
    text = squeezed("template <class... A> __global__ void k(float* y, A... more) { f(more...); }")
    assert "[](float* y, A... more) { f(more...); }, y, more...); }" in text


@pytest.mark.parametrize(
    ("declaration", "member", "names"),
    [
        ("__shared__ float s[32];", "float s[32];", "s"),
        ("__shared__ float a[4][5], b;", "float a[4][5], b;", "a, b"),
        ("static __shared__ int z;", "int z;", "z"),
        ("__shared__ alignas(16) half t[8];", "alignas(16) half t[8];", "t"),
        ("__shared__ typename Sum<T, 4>::Storage u;", "typename Sum<T, 4>::Storage u;", "u"),
        ("volatile __shared__ int v;", "volatile int v;", "v"),
        ("__shared__ union { int a; float b; } w;", "union { int a; float b; } w;", "w"),
    ],
)
def test_shared_variables_become_references(declaration: str, member: str, names: str) -> None:
    text = squeezed(f"__global__ void k() {{ {declaration} }}")
    assert f"{{ {member} }}; auto& [{names}] = ::warpwright::shared<" in text
    assert f'("{names}");' in text


def test_dynamic_shared_memory_is_opened_where_it_is_declared() -> None:
    text = squeezed("__global__ void k() { extern __shared__ __align__(16) float s[]; s[0] = 1; }")
    assert "{ __align__(16) float s[1]; }; auto* s = static_cast<warpwright_shared_" in text


def test_dynamic_shared_memory_of_the_program_is_opened_where_it_is_used() -> None:
    text = squeezed("extern __shared__ char pool[];\n__device__ void f() {}\n__global__ void k() { pool[0] = 1; }")
    assert "void f() {}" in text
    assert "[]() { auto* pool = static_cast<" in text


def test_static_shared_memory_of_the_program_is_unsupported() -> None:
    with pytest.raises(Refused, match="unsupported"):
        rewrite("__shared__ float s[3];")


@pytest.mark.parametrize(
    ("declared", "placed"),
    [
        ("__device__ float state[4];", True),
        ("static __device__ int counter = 0;", True),
        ("__managed__ int shared_counter;", True),
        ("__device__ const float pi = 3.0f;", False),
        ("__constant__ float table[3];", False),
        ("__device__ __constant__ int q;", False),
        ("struct S { static __device__ int z; };", False),
        ("__device__ float f(int x);", False),
        ("auto g = [] __device__ (int i) { return i; };", False),
    ],
)
def test_variables_of_the_device_have_a_place_of_their_own(declared: str, placed: bool) -> None:
    text = squeezed(declared)
    assert ('section("warpwright_device")' in text) is placed
    assert "__device__" not in text
    assert "__constant__" not in text


def test_assembly_in_device_code_is_interpreted() -> None:
    text = squeezed(
        '__device__ void f() { asm volatile("cp.async [%0], [%1], %2;" :: "r"(p), "l"(&x[3]), "n"(16) : "memory");'
        ' asm("mov %0, %1;" : "=r"(a), [n] "+f"(y[2]) : "r"(b)); asm volatile("bar.sync 0;"); }'
    )
    assert '::warpwright::Ptx("cp.async [%0], [%1], %2;").in("r", p).in("l", &x[3]).in("n", 16).run()' in text
    assert '::warpwright::Ptx("mov %0, %1;").out("=r", a).out("+f", y[2], "n").in("r", b).run()' in text
    assert '::warpwright::Ptx("bar.sync 0;").run()' in text


def test_assembly_of_the_host_is_left_alone() -> None:
    assert 'asm volatile("" ::: "memory")' in rewrite('void f() { asm volatile("" ::: "memory"); }')
