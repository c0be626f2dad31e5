"""Small matrix products with a shared first factor, which is computed and summed while it is read."""

from __future__ import annotations

from string import Template

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.code.statements import Launch, Wait
from warpwright.compose.cuda.kernel import Written
from warpwright.compose.cuda.preamble import ALIGNED, PACKS
from warpwright.compose.cuda.tensors import Needs
from warpwright.core.gpus.table import Gpu

TILE, TILES_PER_SM, MOST_INNER = 32, 2, 256
"""Rows and columns of what a block computes, blocks for each multiprocessor that are few, and how much to be summed is
little."""
TOGETHER = 3
"""The largest number of products per launch."""
TILES = verbatim(
    """\
// One product c = a b with an optional bias per column. `a` is the first factor, possibly transposed; its row sums are
// an optional output.
struct TileProduct {
    torch::Tensor b, c;
    bool transposed;
    torch::Tensor sums, bias;
};

template <typename T>
struct TileOperands {
    const T *b, *bias;
    T *c, *sums;
    int rows, columns, inner, a_row, a_column;
    int start, stop, strips;  // The range of its blocks, and the tiles per row of c.
};

// Products of one launch that share the first factor.
template <typename T, typename First>
struct TileProducts {
    First first;
    TileOperands<T> at[3];
};

constexpr int TILE = 32, GROUPS = 8;

// The depth of a tile in shared memory. Scalar copies need more registers, hence the smaller depth.
template <int VEC>
constexpr int DEPTH = VEC == 1 ? 64 : 128;

// The place of element k of row r in a tile of the first factor. Groups of four rows are swizzled to avoid bank
// conflicts.
__device__ int shuffled(int k, int r) {
    return k * TILE + (r ^ k / 4 % (TILE / 4) * 4);
}

// Asynchronous copy to shared memory; zero-fills out-of-range elements.
template <int VEC, typename T>
__device__ void fetch(T* to, const T* from, bool is_there) {
    constexpr int BYTES = VEC * sizeof(T);
    if constexpr (BYTES < 4) {
        *to = is_there ? *from : T(0.0f);
    } else {
        const unsigned target = __cvta_generic_to_shared(to);
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(from), "n"(BYTES),
                "r"(is_there ? BYTES : 0) : "memory");
    }
}

// Loads rows `start` to `start + depth` of the second factor, one tile wide.
template <int VEC, typename T>
__device__ void fetch_second(T* right, const TileOperands<T>& of, int column, int start, int depth) {
    for (int n = threadIdx.x; n < depth * TILE / VEC; n += 256) {
        const int k = n / (TILE / VEC), s = n % (TILE / VEC) * VEC;
        const bool is_there = start + k < of.inner && column + s < of.columns;
        fetch<VEC>(right + k * TILE + s, is_there ? of.b + (start + k) * of.columns + column + s : of.b, is_there);
    }
}

// Loads a tile of the first factor, which may be computed on the fly. Out-of-range lanes load the first element instead
// of branching, so all loads are in flight together.
template <int VEC, typename T, typename First>
__device__ void read_first(float* left, const First& first, const TileOperands<T>& of, int row, int start) {
    constexpr int COUNT = TILE * DEPTH<VEC> / VEC / 256;
    const bool is_along = of.a_column == 1;  // Consecutive threads read consecutive addresses.
    int k[COUNT], r[COUNT];
    bool is_there[COUNT];
    float found[COUNT][VEC];
    #pragma unroll
    for (int p = 0; p < COUNT; ++p) {
        const int n = p * 256 + threadIdx.x;
        k[p] = is_along ? (n / (8 * TILE) * 8 + n % 8) * VEC : n / (TILE / VEC);
        r[p] = is_along ? n / 8 % TILE : n % (TILE / VEC) * VEC;
        is_there[p] = (row + r[p] < of.rows) & (start + k[p] < of.inner);
        first.read(found[p], is_there[p] ? (row + r[p]) * of.a_row + (start + k[p]) * of.a_column : 0);
    }
    #pragma unroll
    for (int p = 0; p < COUNT; ++p) {
        Pack<float, VEC> pack;
        #pragma unroll
        for (int v = 0; v < VEC; ++v) pack.at[v] = is_there[p] ? found[p][v] : 0.0f;
        if (!is_along) {
            store<VEC>(left + shuffled(k[p], r[p]), pack);
            continue;
        }
        #pragma unroll
        for (int v = 0; v < VEC; ++v) left[shuffled(k[p] + v, r[p])] = pack.at[v];
    }
}

// Reduces four consecutive results over the groups and stores them.
template <int VEC, typename T>
__device__ void add_groups(const float* of_groups, const TileOperands<T>& of, int row, int column) {
    float total[4] = {};
    #pragma unroll
    for (int group = 0; group < GROUPS; ++group) {
        const Pack<float, 4> part = load<4>(of_groups + group * TILE * TILE + threadIdx.x * 4);
        #pragma unroll
        for (int v = 0; v < 4; ++v) total[v] += part.at[v];
    }
    #pragma unroll
    for (int v = 0; v < 4; v += VEC) {
        if (row >= of.rows || column + v >= of.columns) return;
        Pack<T, VEC> out;
        #pragma unroll
        for (int k = 0; k < VEC; ++k) out.at[k] = total[v + k] + (of.bias ? float(of.bias[column + v + k]) : 0.0f);
        store<VEC>(of.c + row * of.columns + column + v, out);
    }
}

// Tiled product: 32 x 32 tiles, 8 x 4 results per thread, split-k over eight groups of 32 threads, 128 elements of k in
// shared memory at a time.
template <typename T, int VEC, typename First>
__global__ void __launch_bounds__(256, 2) product_tiles(const TileProducts<T, First> products) {""",
    Wait(),
    """\
    __shared__ float4 shared[GROUPS * TILE * TILE / 4];
    float* left = reinterpret_cast<float*>(shared);
    T* right = reinterpret_cast<T*>(left + TILE * DEPTH<VEC>);
    int number = 0;
    while (blockIdx.x >= products.at[number].stop) ++number;
    const TileOperands<T> of = products.at[number];
    const int block = blockIdx.x - of.start, row = block / of.strips * TILE, column = block % of.strips * TILE;
    const int group = threadIdx.x / 32, lane = threadIdx.x % 32, r = lane / 8 * 8, s = lane % 8 * 4;
    const bool adds_rows = of.sums && column == 0;
    float sum[8][4] = {}, row_sum = 0.0f;
    for (int start = 0; start < of.inner; start += DEPTH<VEC>) {
        const int depth = min(DEPTH<VEC>, (of.inner - start + 31) / 32 * 32);
        if (start > 0) __syncthreads();  // The previous round may still be reading.
        fetch_second<VEC>(right, of, column, start, depth);
        read_first<VEC>(left, products.first, of, row, start);
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        #pragma unroll 1
        for (int k = group * 4; k < depth; k += GROUPS * 4) {
            #pragma unroll
            for (int next = k; next < k + 4; ++next) {
                const Pack<float, 4> above = load<4>(left + shuffled(next, r));
                const Pack<float, 4> below = load<4>(left + shuffled(next, r + 4));
                const Pack<T, 4> b = load<4>(right + next * TILE + s);
                if (adds_rows) row_sum += left[shuffled(next, lane)];
                #pragma unroll
                for (int n = 0; n < 16; ++n) {
                    sum[n / 4][n % 4] += above.at[n / 4] * float(b.at[n % 4]);
                    sum[4 + n / 4][n % 4] += below.at[n / 4] * float(b.at[n % 4]);
                }
            }
        }
    }
    __syncthreads();
    __shared__ float row_sums[GROUPS][TILE];
    row_sums[group][lane] = row_sum;
    float* of_groups = left;  // One tile per group; reuses the memory of the factors.
    #pragma unroll
    for (int n = 0; n < 8; ++n) {
        *reinterpret_cast<float4*>(of_groups + (group * TILE + r + n) * TILE + s) =
                make_float4(sum[n][0], sum[n][1], sum[n][2], sum[n][3]);
    }
    __syncthreads();
    add_groups<VEC>(of_groups, of, row + threadIdx.x / 8, column + threadIdx.x % 8 * 4);
    if (!adds_rows || group > 0 || row + lane >= of.rows) return;
    float total = 0.0f;
    for (int n = 0; n < GROUPS; ++n) total += row_sums[n][lane];
    of.sums[row + lane] = total;
}""",
    calls=("store",),
)
LAUNCHER = """\
// Launches all products together. Declines products that would fill the GPU: the library is faster there.
template <typename T, typename First>
bool tile_products(const First& first, std::initializer_list<TileProduct> products) {
    TileProducts<T, First> found = {first};
    int number = 0, blocks = 0;
    bool packs = first.is_aligned();
    for (const TileProduct& of : products) {
        const int64_t across = (of.c.size(1) + TILE - 1) / TILE, tiles = (of.c.size(0) + TILE - 1) / TILE * across;
        if (tiles == 0 || tiles > $most_tiles || of.b.size(0) > 256) return false;
        const int rows = of.c.size(0), columns = of.c.size(1), inner = of.b.size(0), strips = across;
        const T *b = of.b.data_ptr<T>(), *bias = of.bias.defined() ? of.bias.data_ptr<T>() : nullptr;
        T *c = of.c.data_ptr<T>(), *sums = of.sums.defined() ? of.sums.data_ptr<T>() : nullptr;
        packs = packs && aligned({b, c}) && (columns | (of.transposed ? rows : inner)) % 4 == 0;
        const int start = blocks, a_row = of.transposed ? 1 : inner, a_column = of.transposed ? rows : 1;
        blocks += static_cast<int>(tiles);
        found.at[number++] = {b, bias, c, sums, rows, columns, inner, a_row, a_column, start, blocks, strips};
    }
    const auto kernel = packs ? product_tiles<T, 4, First> : product_tiles<T, 1, First>;"""
TAKEN = """\
    return true;
}"""


def tile_kernels(gpu: Gpu) -> Written:
    """The kernels for all such products of a source."""
    first = Template(LAUNCHER).substitute(most_tiles=TILES_PER_SM * gpu.sms)
    launcher = verbatim(first, Launch("blocks", "256", ("found",)), TAKEN, headers=("initializer_list",))
    return Written(name="tiles", device=(TILES,), launcher=(launcher,), needs=Needs(), preamble=(PACKS, ALIGNED))


def is_small(rows: int, columns: int, inner: int, gpu: Gpu) -> bool:
    """Whether the launcher will take the product; it needs asynchronous copies to shared memory."""
    is_little = inner <= MOST_INNER and -(-rows // TILE) * -(-columns // TILE) <= TILES_PER_SM * gpu.sms
    return is_little and gpu.architecture.has_async_copies
