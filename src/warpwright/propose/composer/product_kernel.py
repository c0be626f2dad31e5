"""Products of small matrices, which a library spreads over too few blocks or begins too late."""

from __future__ import annotations

from warpwright.propose.composer.kernel import Store, Written
from warpwright.propose.composer.preamble import ALIGNED, PACKS
from warpwright.propose.composer.sizes import Cases
from warpwright.propose.composer.tensors import Needs
from warpwright.propose.composer.values import Value

TILE, STRIP, MOST_BLOCKS, MOST_DOWN = 8, 128, 264, 256
"""Rows and columns of what a block computes, how many blocks are few, and how far down a column is not far."""
OPERANDS = """\
// A product c = a b, with a bias for every column where there is one: on the host, and as kernels see it.
struct Product {
    torch::Tensor a, b, c, bias;
};

template <typename T>
struct Operands {
    const T *a, *b, *bias;
    T* c;
    int rows, columns, inner;
    int64_t a_row, a_column, b_row, b_column;
};

// Products that share a launch: blockIdx.z says which.
template <typename T>
struct Products {
    Operands<T> at[3];
};"""
ALONG = """\
// One tile of a product whose factors lie in memory along what is summed: the threads of a block share the length. At
// the end each lane hands half of its sums to another and takes half of that one's, until it is left with two.
template <typename T, int VEC>
__global__ void __launch_bounds__(256) product_along_rows(const Products<T> products) {
    const Operands<T>& of = products.at[blockIdx.z];
    const int row = blockIdx.y * 8, column = blockIdx.x * 8, lane = threadIdx.x % 32;
    if (row >= of.rows || column >= of.columns) return;
    float sum[64] = {};
    for (int k = threadIdx.x * VEC; k < of.inner; k += 256 * VEC) {
        Pack<T, VEC> left[8], right[8];
        #pragma unroll
        for (int n = 0; n < 8; ++n) {
            left[n] = load<VEC>(of.a + min(row + n, of.rows - 1) * of.a_row + k);
            right[n] = load<VEC>(of.b + min(column + n, of.columns - 1) * of.b_column + k);
        }
        #pragma unroll
        for (int n = 0; n < 64; ++n) {
            #pragma unroll
            for (int v = 0; v < VEC; ++v) sum[n] += float(left[n / 8].at[v]) * float(right[n % 8].at[v]);
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
    if (threadIdx.x >= 64 || r >= of.rows || s >= of.columns) return;
    float total = of.bias ? float(of.bias[s]) : 0.0f;
    for (int warp = 0; warp < 8; ++warp) total += of_warp[warp][threadIdx.x];
    of.c[static_cast<int64_t>(r) * of.columns + s] = total;
}"""
DOWN = """\
// Eight rows of a product whose second factor lies in memory along its rows: a lane has VEC columns to itself, and the
// warps take turns at what is summed, 128 of it at a time and all of that under way at once.
template <typename T, int VEC>
__global__ void __launch_bounds__(256) product_down_columns(const Products<T> products) {
    const Operands<T>& of = products.at[blockIdx.z];
    const int row = blockIdx.y * 8, first = blockIdx.x * 32 * VEC, column = first + threadIdx.x % 32 * VEC;
    const int warp = threadIdx.x / 32;
    if (row >= of.rows || first >= of.columns) return;
    __shared__ float left[128][8];
    float sum[8][VEC] = {};
    for (int start = 0; start < of.inner; start += 128) {
        Pack<T, VEC> right[16] = {};
        #pragma unroll
        for (int n = 0; n < 16; ++n) {
            const int k = start + 8 * n + warp;
            if (k < of.inner && column < of.columns) right[n] = load<VEC>(of.b + k * of.b_row + column);
        }
        __syncthreads();  // The last round may still be reading.
        for (int n = threadIdx.x; n < 8 * 128; n += 256) {
            const int r = of.a_row == 1 ? n % 8 : n / 128, k = of.a_row == 1 ? n / 8 : n % 128;
            const bool is_there = row + r < of.rows && start + k < of.inner;
            left[k][r] = is_there ? float(of.a[(row + r) * of.a_row + (start + k) * of.a_column]) : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int n = 0; n < 16; ++n) {
            #pragma unroll
            for (int r = 0; r < 8; ++r) {
                #pragma unroll
                for (int v = 0; v < VEC; ++v) sum[r][v] += left[8 * n + warp][r] * float(right[n].at[v]);
            }
        }
    }
    __shared__ float of_warp[8][8][32 * VEC];
    #pragma unroll
    for (int r = 0; r < 8; ++r) {
        #pragma unroll
        for (int v = 0; v < VEC; ++v) of_warp[warp][r][threadIdx.x % 32 * VEC + v] = sum[r][v];
    }
    __syncthreads();
    for (int n = threadIdx.x; n < 8 * 32 * VEC; n += 256) {
        const int r = row + n / (32 * VEC), s = first + n % (32 * VEC);
        if (r >= of.rows || s >= of.columns) continue;
        float total = of.bias ? float(of.bias[s]) : 0.0f;
        for (int other = 0; other < 8; ++other) total += of_warp[other][n / (32 * VEC)][n % (32 * VEC)];
        of.c[static_cast<int64_t>(r) * of.columns + s] = total;
    }
}"""
LAUNCHER = """\
// All of them in one launch. Declines what would fill the GPU: a library is made for that.
template <typename T>
bool small_products(std::initializer_list<Product> products) {
    Products<T> found = {};
    dim3 grid(1, 1, 0);
    bool along = true, down = true, packs_along = true, packs_down = true;
    for (const Product& of : products) {
        const int64_t rows = of.a.size(0), inner = of.a.size(1), columns = of.b.size(1);
        if (rows == 0 || columns == 0 || inner == 0) return false;
        const int64_t height = (rows + 7) / 8, tiles = (columns + 7) / 8, strips = (columns + 127) / 128;
        along = along && of.a.stride(1) == 1 && of.b.stride(0) == 1 && height * tiles <= 264;
        down = down && of.b.stride(1) == 1 && inner <= 256 && height * strips <= 264;
        const T *a = of.a.data_ptr<T>(), *b = of.b.data_ptr<T>();
        const T* bias = of.bias.defined() ? of.bias.data_ptr<T>() : nullptr;
        constexpr int VEC = 16 / sizeof(T);
        packs_along = packs_along && aligned({a, b}) && (inner | of.a.stride(0) | of.b.stride(1)) % VEC == 0;
        packs_down = packs_down && aligned({b}) && (columns | of.b.stride(0)) % 4 == 0;
        grid = dim3(std::max<int>(grid.x, columns), std::max<int>(grid.y, height), grid.z);
        found.at[grid.z++] = {a, b, bias, of.c.data_ptr<T>(), static_cast<int>(rows), static_cast<int>(columns),
                static_cast<int>(inner), of.a.stride(0), of.a.stride(1), of.b.stride(0), of.b.stride(1)};
    }
    if (!along && !down) return false;
    const int width = along ? 8 : packs_down ? 128 : 32;
    auto kernel = packs_down ? product_down_columns<T, 4> : product_down_columns<T, 1>;
    if (along) kernel = packs_along ? product_along_rows<T, 16 / sizeof(T)> : product_along_rows<T, 1>;
    grid.x = (grid.x + width - 1) / width;
    kernel<<<grid, 256, 0, at::cuda::getCurrentCUDAStream()>>>(found);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return true;
}"""
TOGETHER = 3
"""Products that one launch has room for."""


def product_kernels() -> Written:
    """For all products of a source."""
    return Written(
        name="product",
        device=f"{OPERANDS}\n\n{ALONG}\n\n{DOWN}",
        launcher=LAUNCHER,
        needs=Needs(),
        preamble=(PACKS, ALIGNED),
    )


def type_of(store: Store, cases: Cases) -> str | None:
    """Of all factors and of what is left, as the host writes it; None where they differ."""
    found = {*store.value.attrs[1], store.value.dtype, store.tensor.dtype}
    if found <= {"T", "fp32"} and set(cases.widths) == {4}:
        return "float"
    return "scalar_t" if found == {"T"} else None


def is_worth_it(store: Store, cases: Cases) -> bool:
    """Whether it is a product that is small in a case that is timed, and takes and gives what the kernels do."""
    value = store.value
    if value.op != "library" or value.attrs[0] not in ("mm", "addmm"):
        return False
    if type_of(store, cases) is None:
        return False
    *bias, a, b = value.args
    return all(len(item.shape) == 1 for item in bias) and any(
        _is_small(*sizes, along=_is_along(a, b)) for sizes in _timed(a, b, cases)
    )


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
