"""Mutants: each is the original with one change of the stated kind on the stated line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from warpwright.faults.context import Context
from warpwright.faults.mutants import KINDS, Mutant, mutants, some_of_each_class

CORPUS = Path(__file__).parents[2] / "corpus" / "seal"
KERNEL = """#include <torch/extension.h>
__global__ void k(const float* x, float* y, int n, int m, float eps) {
  __shared__ float s[32], t[4][5];
  float sum = 0.0f, best = -INFINITY;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    sum += x[i * m + n];
  }
  s[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x < 16) t[0][1] = s[threadIdx.x + 16];
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  if (threadIdx.x >= n) return;
  atomicAdd(&y[0], rsqrtf(sum + eps));
}
__global__ void tiled(const float* x, float* y, int n) {
  for (int k = 0; k < n; k += TILE) y[k] = x[k];
  for (int d = 1; d < 32; d <<= 1) y[d] += x[d];
  for (int d = 1; d < 32; d *= 2) y[d] += x[d];
}
void f(int n) {
  k<<<(n + 31) / 32, 32>>>(x, y, n, 1, 1e-5f);
  k<<<n, 32>>>(x, y, n, 1, 1e-5f);
  dim3 block(32), grid(n);
  k<<<grid, block>>>(x, y, n, 1, 1e-5f);
}
__global__ void scaled(const float* x, float* y, int n) {
  const float scaled = x[0] + 0.5f;
  y[n * 8] = scaled;
  for (int d = 16; d > 0; d /= 2) y[d] += x[d];
}
"""
BOUND = """
torch::Tensor scaled(torch::Tensor x, const torch::Tensor& weight) {
  return x;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &scaled); }
"""


def of_kind(kind: str) -> list[Mutant]:
    return [mutant for mutant in mutants(KERNEL) if mutant.kind == kind]


@pytest.mark.parametrize(
    ("kind", "line", "text"),
    [
        ("dropped barrier", 9, "  ;"),
        ("shifted bound", 5, "i <= n;"),
        ("shifted bound", 12, "if (threadIdx.x > n) return;"),
        ("changed stride", 5, "i += 2 * (blockDim.x)"),
        ("dropped tail", 10, "if (true) t"),
        ("dropped tail", 12, "if (false) return;"),
        ("swapped indices", 6, "x[n * m + i]"),
        ("swapped indices", 10, "t[1][0] ="),
        ("wrong identity", 4, "sum = 1.0f"),
        ("wrong identity", 4, "best = 0.0f"),
        ("dropped epsilon", 13, "rsqrtf(sum )"),
        ("half accumulation", 6, "sum = __int_as_float("),
        ("uninitialised shared", 8, "if (threadIdx.x != 0) s[threadIdx.x] = sum;"),
        ("wrong mask", 11, "0x0000ffffu, sum, 1"),
        ("missing atomic", 13, "*(&y[0]) += rsqrtf(sum + eps);"),
        ("other operation", 27, "const float scaled = x[0] - 0.5f;"),
        ("other function", 13, "sqrtf(sum + eps)"),
        ("changed constant", 27, "(0.5f * 1.0625f)"),
        ("neighbouring element", 6, "x[(i * m + n) > 0 ? (i * m + n) - 1 : 0]"),
        ("wrong row length", 28, "y[n * (8 - 1)]"),
        ("early end", 5, "i < (n) - (n) / 4;"),
        ("lost terms", 6, "sum = x[i * m + n];"),
        ("skipped step", 29, "int d = (16) / 2;"),
        ("half result", 27, "= __int_as_float(__float_as_int(float(x[0] + 0.5f)) & 0xffffe000);"),
        ("empty kernel", 26, "{ return;"),
        ("magnitude sniffing", 27, "(float v) { return fabsf(v) > 6.0f"),
        ("shifted bound", 16, "k + (TILE) <= n"),
        ("shifted bound", 17, "2 * d < 32"),
        ("shifted bound", 18, "2 * d < 32"),
        ("off-by-one grid", 21, "(n ) / 32"),
        ("off-by-one grid", 22, "<<<(n) - 1, 32>>>"),
    ],
)
def test_a_bug_of_each_kind_is_planted(kind: str, line: int, text: str) -> None:
    assert any(mutant.line == line and text in mutant.source.splitlines()[line - 1] for mutant in of_kind(kind))


@pytest.mark.parametrize(
    ("kind", "line", "text"),
    [
        ("shifted bound", 5, "(bool(i < n) == bool(i <= n) ? bool(i < n) : (__trap(), false))"),
        ("changed stride", 5, "(i < n ? __trap() : void()), i += blockDim.x, (i < n ? __trap() : void())) {"),
        ("dropped tail", 10, "== bool(true)"),
        ("wrong identity", 4, "sum = (__trap(), 0.0f)"),
        (
            "uninitialised shared",
            8,
            "{ s[threadIdx.x] = sum; if (threadIdx.x == 0) memset((void*)&s[threadIdx.x], 0xff",
        ),
        ("missing atomic", 13, "(__trap(), atomicAdd(&y[0], rsqrtf(sum + eps)));"),
    ],
)
def test_a_mutant_has_a_witness_that_can_prove_it_equivalent(kind: str, line: int, text: str) -> None:
    witnesses = [mutant.witness.splitlines()[line - 1] for mutant in of_kind(kind) if mutant.witness]
    assert any(text in written for written in witnesses), witnesses


def test_a_grid_of_three_dimensions_is_not_mutated() -> None:
    assert not any(mutant.line == 24 for mutant in of_kind("off-by-one grid"))


def test_a_kernel_may_return_the_first_result_for_ever() -> None:
    (kept,) = [mutant for mutant in mutants(BOUND) if mutant.kind == "stale result"]
    assert "KeptResult<&scaled>::call" in kept.source
    assert kept.certain


def test_an_argument_may_be_replaced_by_what_the_constructor_makes_of_it() -> None:
    context = Context(identities={"weight": "ones", "bias": "zeros"})
    (ignored,) = [mutant for mutant in mutants(BOUND, context) if mutant.kind == "ignored parameter"]
    assert "const torch::Tensor& weight_given) { auto weight = torch::ones_like(weight_given);" in ignored.source
    assert ignored.family == "identity-default parameter"


def test_a_kernel_may_do_nothing_on_grids_that_no_check_launches() -> None:
    (split,) = [mutant for mutant in mutants(KERNEL, Context(grids={"scaled": 12})) if mutant.kind == "size split"]
    assert "> 12ull) return;" in split.source.splitlines()[25]
    assert split.certain


def test_faults_are_chosen_by_class_and_seed() -> None:
    chosen = some_of_each_class(KERNEL, 2, seed=0)
    assert chosen == some_of_each_class(KERNEL, 2, seed=0) != some_of_each_class(KERNEL, 2, seed=1)
    by_class = Counter(mutant.family for mutant in chosen)
    assert by_class["boundary"] == by_class["synchronisation"] == 2
    assert len({mutant.kind for mutant in chosen if mutant.family == "boundary"}) == 2


def test_nothing_else_changes() -> None:
    for mutant in mutants(KERNEL):
        for changed in (mutant.source, mutant.witness or mutant.source):
            assert changed != KERNEL
            before, after = KERNEL.splitlines(), changed.splitlines()
            assert len(before) == len(after)
            assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


def test_the_corpus_gives_enough_mutants_of_every_kind() -> None:
    found = [mutant for path in sorted(CORPUS.glob("*.cu")) for mutant in mutants(path.read_text())]
    assert len(found) >= 400
    assert {mutant.kind for mutant in found} == set(KINDS)
