"""2 x 2 pooling without overlap or gaps, the most common kind: reads whole packs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.code.statements import Do, If, Let, Statement, Wait
from warpwright.compose.code.text import Piece
from warpwright.compose.cuda.arithmetic import DEFINED
from warpwright.compose.cuda.kernel import launch, pointer
from warpwright.compose.cuda.preamble import ALIGNED, PACKS
from warpwright.compose.ir.operations import Op, Window
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.compose.ir.tensors import Store, Tensor

QUADS = verbatim(
    """\
// Max-pooling with 2 x 2 windows: each thread computes two adjacent windows, `pairs` of them per row.
template <typename T>
__global__ void __launch_bounds__(256) quads_kernel(
        const T* __restrict__ x, T* __restrict__ y, FastDivisor pairs, int width, int count) {""",
    Wait(),
    """\
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    const T* from = x + i / pairs * 2 * width + i % pairs * 4;
    const Pack<T, 4> upper = load<4>(from), lower = load<4>(from + width);
    Pack<T, 2> y_out;
    #pragma unroll
    for (int k = 0; k < 2; ++k) {
        const float left = larger(float(upper.at[2 * k]), float(lower.at[2 * k]));
        y_out.at[k] = larger(left, larger(float(upper.at[2 * k + 1]), float(lower.at[2 * k + 1])));
    }
    *reinterpret_cast<Pack<T, 2>*>(y + 2 * i) = y_out;
}""",
)
PREAMBLE = PACKS, ALIGNED
FUNCTIONS = {"maximum": DEFINED[Op.MAXIMUM], "quads": QUADS}


def is_worth_it(store: Store, held: Mapping[int, Tensor], cases: Cases) -> bool:
    """Whether a timed case uses this kernel."""
    window = store.value.attr(Window)
    x = held.get(store.value.first.number)
    is_flat = window.mode == "max" and len(window.sides) == 2
    is_plain = is_flat and x is not None and x.dtype == store.tensor.dtype == "T"
    return is_plain and any(all(size.values[case] == by for size, by in _wanted(store)) for case in cases.timed)


def quads_first(store: Store, x: Tensor, named: Callable[[Size], str]) -> list[Statement]:
    """The statements of a launcher that select this kernel if possible."""
    height, width = (named(size) for size in store.value.first.shape[-2:])
    tests = [f"{named(size)} == {by}" for size, by in _wanted(store) if size.constant is None]
    tests += [f"{height} % 2 == 0", f"{width} % 4 == 0"]
    tests += [f"aligned({{{x.name}.data_ptr(), {store.tensor.name}.data_ptr()}})"]
    arguments: list[Piece] = [pointer(x), pointer(store.tensor), f"{width} / 4", width, "count / 2"]
    body = (
        Let("const auto", "kernel", "quads_kernel<T>"),
        launch("(count + 511) / 512", "256", arguments),
        Do("return"),
    )
    return [If(f"small && {' && '.join(dict.fromkeys(tests))}", body)]


def _wanted(store: Store) -> list[tuple[Size, int]]:
    """The sizes of its windows, and their required values."""
    window = store.value.attr(Window)
    wanted = (window.sides, 2), (window.strides, 2), (window.padding, 0), (window.dilation, 1)
    return [(size, by) for sizes, by in wanted for size in sizes]
