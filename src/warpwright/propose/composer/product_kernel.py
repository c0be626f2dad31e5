"""Products of small matrices, which a library spreads over too few blocks or begins too late."""

from __future__ import annotations

from warpwright.propose.composer.kernel import Written
from warpwright.propose.composer.preamble import ALIGNED, PACKS
from warpwright.propose.composer.sizes import Cases
from warpwright.propose.composer.tensors import Needs
from warpwright.propose.composer.values import Value

TILE, STRIP, MOST_BLOCKS, MOST_DOWN = 8, 128, 264, 256
"""Rows and columns of what a block computes, how many blocks are few, and how far down a column is not far."""
ALONG = """\
// One tile of a b, both of which lie in memory along what is summed: the threads of a block share the length. At the
// end each lane hands half of its sums to another and takes half of that one's, until it is left with two.
template <typename T, int VEC>
__global__ void __launch_bounds__(256) product_along_rows(
        const T* __restrict__ a, const T* __restrict__ b, const T* __restrict__ bias, T* __restrict__ c, int rows,
        int columns, int inner, int64_t a_stride, int64_t b_stride) {
    const int row = blockIdx.y * 8, column = blockIdx.x * 8, lane = threadIdx.x % 32;
    float sum[64] = {};
    for (int k = threadIdx.x * VEC; k < inner; k += 256 * VEC) {
        Pack<T, VEC> a_pack[8], b_pack[8];
        #pragma unroll
        for (int n = 0; n < 8; ++n) {
            a_pack[n] = load<VEC>(a + min(row + n, rows - 1) * a_stride + k);
            b_pack[n] = load<VEC>(b + min(column + n, columns - 1) * b_stride + k);
        }
        #pragma unroll
        for (int n = 0; n < 64; ++n) {
            #pragma unroll
            for (int v = 0; v < VEC; ++v) sum[n] += float(a_pack[n / 8].at[v]) * float(b_pack[n % 8].at[v]);
        }
    }
    #pragma unroll
    for (int half = 32; half > 1; half /= 2) {
        const bool upper = lane & (half / 2);
        #pragma unroll
        for (int n = 0; n < half; ++n) {
            const float given = upper ? sum[n] : sum[n + half];
            sum[n] = (upper ? sum[n + half] : sum[n]) + __shfl_xor_sync(0xffffffff, given, half / 2);
        }
    }
    __shared__ float of_warp[8][64];
    for (int n = 0; n < 2; ++n) of_warp[threadIdx.x / 32][2 * lane + n] = sum[n];
    __syncthreads();
    const int r = row + threadIdx.x / 8, s = column + threadIdx.x % 8;
    if (threadIdx.x >= 64 || r >= rows || s >= columns) return;
    float total = bias ? float(bias[s]) : 0.0f;
    for (int warp = 0; warp < 8; ++warp) total += of_warp[warp][threadIdx.x];
    c[static_cast<int64_t>(r) * columns + s] = total;
}"""
DOWN = """\
// Eight rows of a b, where b lies in memory along its rows: a lane has VEC columns to itself, the warps take turns.
template <typename T, int VEC>
__global__ void __launch_bounds__(256) product_down_columns(
        const T* __restrict__ a, const T* __restrict__ b, const T* __restrict__ bias, T* __restrict__ c, int rows,
        int columns, int inner, int64_t a_row, int64_t a_column, int64_t b_stride) {
    const int row = blockIdx.y * 8, first = blockIdx.x * 32 * VEC, column = first + threadIdx.x % 32 * VEC;
    float sum[8][VEC] = {};
    if (column < columns) {
        #pragma unroll 4
        for (int k = threadIdx.x / 32; k < inner; k += 8) {
            const Pack<T, VEC> b_pack = load<VEC>(b + k * b_stride + column);
            #pragma unroll
            for (int n = 0; n < 8; ++n) {
                const float left = float(a[min(row + n, rows - 1) * a_row + k * a_column]);
                #pragma unroll
                for (int v = 0; v < VEC; ++v) sum[n][v] += left * float(b_pack.at[v]);
            }
        }
    }
    __shared__ float of_warp[8][8][32 * VEC];
    #pragma unroll
    for (int n = 0; n < 8; ++n) {
        #pragma unroll
        for (int v = 0; v < VEC; ++v) of_warp[threadIdx.x / 32][n][threadIdx.x % 32 * VEC + v] = sum[n][v];
    }
    __syncthreads();
    for (int n = threadIdx.x; n < 8 * 32 * VEC; n += 256) {
        const int r = row + n / (32 * VEC), s = first + n % (32 * VEC);
        if (r >= rows || s >= columns) continue;
        float total = bias ? float(bias[s]) : 0.0f;
        for (int warp = 0; warp < 8; ++warp) total += of_warp[warp][n / (32 * VEC)][n % (32 * VEC)];
        c[static_cast<int64_t>(r) * columns + s] = total;
    }
}"""
LAUNCHER = """\
// c = a b, and a bias where there is one. Declines what would fill the GPU: a library is made for that.
template <typename T>
bool small_product(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& c, const T* bias = nullptr) {
    const int64_t rows = a.size(0), inner = a.size(1), columns = b.size(1);
    if (rows * columns == 0 || inner == 0) return false;
    const bool along = a.stride(1) == 1 && b.stride(0) == 1, down = !along && b.stride(1) == 1;
    const int VEC = along ? 16 / sizeof(T) : 4, strip = along ? 8 : 128;
    const dim3 grid((columns + strip - 1) / strip, (rows + 7) / 8);
    if (!(along || (down && inner <= 256)) || int64_t{grid.x} * grid.y > 264) return false;
    const T *left = a.data_ptr<T>(), *right = b.data_ptr<T>();
    T* to = c.data_ptr<T>();
    const auto stream = at::cuda::getCurrentCUDAStream();
    if (along) {
        const bool vectors = aligned({left, right}) && (inner | a.stride(0) | b.stride(1)) % VEC == 0;
        const auto kernel = vectors ? product_along_rows<T, 16 / sizeof(T)> : product_along_rows<T, 1>;
        kernel<<<grid, 256, 0, stream>>>(left, right, bias, to, rows, columns, inner, a.stride(0), b.stride(1));
    } else {
        const bool vectors = aligned({right}) && (columns | b.stride(0)) % 4 == 0;
        const dim3 single((columns + 31) / 32, grid.y);
        const auto kernel = vectors ? product_down_columns<T, 4> : product_down_columns<T, 1>;
        kernel<<<vectors ? grid : single, 256, 0, stream>>>(
                left, right, bias, to, rows, columns, inner, a.stride(0), a.stride(1), b.stride(0));
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return true;
}"""


def product_kernels() -> Written:
    """For all products of a source."""
    return Written(
        name="product", device=f"{ALONG}\n\n{DOWN}", launcher=LAUNCHER, needs=Needs(), preamble=(PACKS, ALIGNED)
    )


def is_worth_it(value: Value, cases: Cases) -> bool:
    """Whether it is small in a case that is timed, and takes and gives what the kernels do."""
    name, dtypes, _ = value.attrs
    *bias, a, b = value.args
    plain = name in ("mm", "addmm") and {*dtypes, value.dtype} == {"T"} and all(len(item.shape) == 1 for item in bias)
    return plain and any(_is_small(*sizes, along=_is_along(a, b)) for sizes in _timed(a, b, cases))


def _is_along(a: Value, b: Value) -> bool:
    """Whether both lie in memory along what is summed."""
    return a.op != "permute" and b.op == "permute"


def _timed(a: Value, b: Value, cases: Cases) -> list[tuple[int, ...]]:
    sizes = *a.shape, b.shape[1]
    return [tuple(size.values[number] for size in sizes) for number in cases.timed]


def _is_small(rows: int, inner: int, columns: int, *, along: bool) -> bool:
    """As the launcher will find."""
    strip, is_short = (TILE, True) if along else (STRIP, inner <= MOST_DOWN)
    return is_short and -(-rows // TILE) * -(-columns // strip) <= MOST_BLOCKS
