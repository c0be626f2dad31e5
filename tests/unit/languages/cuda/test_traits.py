"""Traits are read off the source and the launches, and each comes with its reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.launch.plan import Launch, Plan
from warpwright.languages.cuda.traits import explained, traits

NAIVE = """__global__ void rows(const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < columns; ++j) y[row * columns + j] = 2 * x[row * columns + j];
}
void launch() { rows<<<1, 32>>>(); }
"""
PLAIN = """__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
void launch() { scale<<<1, 32>>>(); }
"""


def plan(*launches):
    return Plan(entry="forward", case="c", buffers=(), arguments=(), nodes=launches, returns=())


def launch(**fields):
    return Launch(kernel="k", grid=(1, 1, 1), block=(32, 1, 1), **fields)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (NAIVE, (0, 0, 0, 3)),
        (PLAIN, (1, 0, 0, 3)),
        (PLAIN.replace("float*", "float4*"), (2, 0, 0, 3)),
        (PLAIN.replace("if (i", "__shared__ float s[32]; __syncthreads(); if (i"), (2, 0, 2, 3)),
        (PLAIN.replace("if (i", "x += __shfl_xor_sync(~0u, 1, 1); if (i"), (1, 0, 1, 3)),
        (PLAIN.replace("if (i", "#pragma unroll\nfor (;;) ; if (i"), (1, 1, 0, 3)),
        (PLAIN.replace("2 * x[i]", "__hfma2(x[i], x[i], x[i])"), (1, 2, 0, 3)),
        (PLAIN.replace("if (i", 'asm("cp.async.ca.shared.global [%0], [%1], 16;"); if (i'), (3, 0, 0, 3)),
        (PLAIN.replace("if (i", "wmma::mma_sync(c, a, b, c); if (i"), (1, 3, 0, 3)),
        (PLAIN.replace("1, 32", "properties->multiProcessorCount, 32"), (1, 0, 3, 3)),
    ],
)
def test_each_axis(source, expected):
    assert traits(source) == expected


def test_a_comment_is_no_trait():
    assert traits("// float4 __shared__ wmma:: __syncthreads\n" + PLAIN) == traits(PLAIN)


def test_plans_know_what_was_launched():
    assert traits(PLAIN, {"c": plan(launch(), launch())})[3] == 2
    assert traits(PLAIN, {"c": plan(*[launch()] * 9)})[3] == 0
    assert traits(PLAIN, {"c": plan(launch(cluster=(2, 1, 1)))})[2] == 3
    assert traits(PLAIN, {"c": plan(launch(cooperative=True))})[2] == 3


def test_each_trait_says_why():
    memory, _, _, fusion = explained(NAIVE, {"c": plan(launch(), launch())})
    assert memory.because == "no subscript has a thread's index without a factor"
    assert fusion.because == "2 kernels a call"


@given(st.text(max_size=300))
def test_any_text_has_traits_within_the_grid(text):
    assert all(0 <= level <= 3 for level in traits(text))
