"""Traits are read off the source, and each comes with its reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(("launches", "level"), [(1, 3), (2, 2), (4, 0), (9, 0)])
def test_fewer_launches_are_more_fused(launches, level):
    assert traits(PLAIN + "void more() { scale<<<1, 32>>>(); }" * (launches - 1))[3] == level


def test_each_trait_says_why():
    memory, _, _, fusion = explained(NAIVE)
    assert memory.because == "no subscript has a thread's index without a factor"
    assert fusion.because == "1 launches in the source"


@given(st.text(max_size=300))
def test_any_text_has_traits_within_the_grid(text):
    assert all(0 <= level <= 3 for level in traits(text))
