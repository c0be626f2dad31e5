"""Small matrix products, for which a library uses too few blocks or has too much overhead."""

from __future__ import annotations

from string import Template

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.code.statements import Launch, Wait
from warpwright.compose.cuda.kernel import Written
from warpwright.compose.cuda.preamble import ALIGNED, PACKS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.operations import LibraryCall, Op, Routine
from warpwright.compose.ir.sizes import Cases
from warpwright.compose.ir.tensors import Store
from warpwright.core.gpus.table import Gpu

TILE, BLOCKS_PER_SM = 8, 2
"""The tile size of a block, and the number of blocks per multiprocessor below which a product is small."""
OPERANDS = verbatim(
    """\
// One product c = a b with an optional bias per column: on the host, and as kernels see it.
struct Product {
    torch::Tensor a, b, c, bias;
};

template <typename T>
struct Operands {
    const T *a, *b, *bias;
    T* c;
    int rows, columns, inner;
    int64_t a_row, b_column;
};

// Products of one launch, selected by blockIdx.z.
template <typename T>
struct Products {
    Operands<T> at[3];
};"""
)
ALONG = verbatim(
    """\
// One tile of a product whose factors are both contiguous along k; the threads of a block split k. In each butterfly
// step lanes exchange half of their sums, until each lane holds two.
template <typename T, int VEC>
__global__ void __launch_bounds__(256) product_along_rows(const Products<T> products) {""",
    Wait(),
    """\
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
}""",
)
LAUNCHER = """\
// Launches all products together. Declines products that would fill the GPU: the library is faster there.
template <typename T>
bool small_products(std::initializer_list<Product> products) {
    Products<T> found = {};
    dim3 grid(1, 1, 0);
    bool packs = true;
    for (const Product& of : products) {
        const int64_t rows = of.a.size(0), inner = of.a.size(1), columns = of.b.size(1);
        const int64_t height = (rows + 7) / 8, width = (columns + 7) / 8;
        if (rows == 0 || columns == 0 || inner == 0 || height * width > $most_blocks) return false;
        if (of.a.stride(1) != 1 || of.b.stride(0) != 1) return false;
        const T *a = of.a.data_ptr<T>(), *b = of.b.data_ptr<T>();
        const T* bias = of.bias.defined() ? of.bias.data_ptr<T>() : nullptr;
        constexpr int VEC = 16 / sizeof(T);
        packs = packs && aligned({a, b}) && (inner | of.a.stride(0) | of.b.stride(1)) % VEC == 0;
        grid = dim3(std::max<int>(grid.x, width), std::max<int>(grid.y, height), grid.z);
        found.at[grid.z++] = {a, b, bias, of.c.data_ptr<T>(), static_cast<int>(rows), static_cast<int>(columns),
                static_cast<int>(inner), of.a.stride(0), of.b.stride(1)};
    }
    const auto kernel = packs ? product_along_rows<T, 16 / sizeof(T)> : product_along_rows<T, 1>;"""
TAKEN = """\
    return true;
}"""
TOGETHER = 3
"""The largest number of products per launch."""


def product_kernels(gpu: Gpu) -> Written:
    """The kernels for all small products of a source."""
    first = Template(LAUNCHER).substitute(most_blocks=BLOCKS_PER_SM * gpu.sms)
    return Written(
        name="product",
        device=(OPERANDS, ALONG),
        launcher=(
            verbatim(first, Launch("grid", "256", ("found",)), TAKEN, headers=("initializer_list", "algorithm")),
        ),
        needs=Needs(),
        preamble=(PACKS, ALIGNED),
    )


def type_of(store: Store, cases: Cases) -> str | None:
    """The common C++ type of factors and result; None if they differ."""
    found = {*store.value.attr(LibraryCall).dtypes, store.value.dtype, store.tensor.dtype}
    if found <= {"T", "fp32"} and set(cases.widths) == {4}:
        return "float"
    return "scalar_t" if found == {"T"} else None


def is_product(store: Store, cases: Cases) -> bool:
    """Whether the store is a product with types and layouts that the kernels support."""
    value = store.value
    is_call = isinstance(value.attrs, LibraryCall) and value.attrs.routine in (Routine.MM, Routine.ADDMM)
    if not is_call or type_of(store, cases) is None:
        return False
    return all(len(bias.shape) == 1 for bias in value.args[:-2])


def is_worth_it(store: Store, cases: Cases, gpu: Gpu) -> bool:
    """Whether both factors are contiguous along the inner dimension, and the product is small in a timed case."""
    if not is_product(store, cases):
        return False
    *_, a, b = store.value.args
    is_along = a.op is not Op.PERMUTE and b.op is Op.PERMUTE
    return is_along and any(_is_small(*sizes, gpu) for sizes in timed(store, cases))


def timed(store: Store, cases: Cases) -> list[tuple[int, int, int]]:
    """Rows, columns and inner dimension of every timed case."""
    *_, a, b = store.value.args
    (rows, inner), columns = a.shape, b.shape[1]
    return [(rows.values[case], columns.values[case], inner.values[case]) for case in cases.timed]


def _is_small(rows: int, columns: int, inner: int, gpu: Gpu) -> bool:
    """Whether the launcher will take the product."""
    return inner > 0 and -(-rows // TILE) * -(-columns // TILE) <= BLOCKS_PER_SM * gpu.sms
