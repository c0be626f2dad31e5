"""Device functions that the kernels share; a source gets only those it uses."""

from __future__ import annotations

PACKS = """\
// VEC neighbouring elements, moved together.
template <typename T, int VEC>
struct alignas(sizeof(T) * VEC < 16 ? sizeof(T) * VEC : 16) Pack {
    T at[VEC];
};

template <int VEC, typename T>
__device__ Pack<T, VEC> load(const T* from) {
    return *reinterpret_cast<const Pack<T, VEC>*>(from);
}

template <int VEC, typename T>
__device__ void store(T* to, const Pack<T, VEC>& pack) {
    *reinterpret_cast<Pack<T, VEC>*>(to) = pack;
}"""

ALIGNED = """\
// Whether packs of 16 bytes may be read from all of these.
bool aligned(std::initializer_list<const void*> pointers) {
    for (const void* pointer : pointers)
        if (reinterpret_cast<uintptr_t>(pointer) % 16 != 0) return false;
    return true;
}"""

JOINS = {
    "sum": """\
struct Sum {
    static __device__ float identity() { return 0.0f; }
    static __device__ float join(float a, float b) { return a + b; }
};""",
    "amax": """\
// NaN wins, as in torch.
struct Max {
    static __device__ float identity() { return -INFINITY; }
    static __device__ float join(float a, float b) { return a > b || a != a ? a : b; }
};""",
    "amin": """\
// NaN wins, as in torch.
struct Min {
    static __device__ float identity() { return INFINITY; }
    static __device__ float join(float a, float b) { return a < b || a != a ? a : b; }
};""",
    "prod": """\
struct Product {
    static __device__ float identity() { return 1.0f; }
    static __device__ float join(float a, float b) { return a * b; }
};""",
}
JOIN_NAMES = {"sum": "Sum", "amax": "Max", "amin": "Min", "prod": "Product"}

OVER_ROW = """\
// One number from the THREADS threads that share a row; every one of them gets it.
template <typename Op, int THREADS>
__device__ float over_row(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value = Op::join(value, __shfl_xor_sync(0xffffffff, value, offset));
    if constexpr (THREADS > 32) {
        __shared__ float of_warp[THREADS / 32];
        __syncthreads();  // The last call may still be reading.
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
        __syncthreads();
        value = threadIdx.x % 32 < THREADS / 32 ? of_warp[threadIdx.x % 32] : Op::identity();
        for (int offset = 16; offset > 0; offset /= 2)
            value = Op::join(value, __shfl_xor_sync(0xffffffff, value, offset));
    }
    return value;
}"""

BEST = """\
// A position and what lies there. The larger value is better, NaN best of all, and the first of equals.
struct Best {
    float value;
    int at;
};

__device__ Best better(Best a, Best b) {
    const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
    const bool same = (nan_a && nan_b) || a.value == b.value;
    const bool first = same ? a.at < b.at : nan_a || (!nan_b && a.value > b.value);
    return first ? a : b;
}

__device__ Best best_of_warp(Best best) {
    for (int offset = 16; offset > 0; offset /= 2) {
        const float value = __shfl_xor_sync(0xffffffff, best.value, offset);
        const int at = __shfl_xor_sync(0xffffffff, best.at, offset);
        best = better(best, Best{value, at});
    }
    return best;
}

// The best over the THREADS threads that share a row; every one of them gets it.
template <int THREADS>
__device__ Best best_of_row(Best best) {
    best = best_of_warp(best);
    if constexpr (THREADS > 32) {
        __shared__ Best of_warp[THREADS / 32];
        __syncthreads();  // The last call may still be reading.
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = best;
        __syncthreads();
        best = of_warp[threadIdx.x % 32 < THREADS / 32 ? threadIdx.x % 32 : 0];
        best = best_of_warp(best);
    }
    return best;
}"""

ADD_PARTS = """\
// Adds up what the warps of a block have summed for the same columns.
template <int VEC, int WARPS>
__device__ void add_warps(const float (&sum)[VEC], float* to, int64_t column, int64_t columns) {
    __shared__ float of_warp[WARPS][32 * VEC];
    __syncthreads();  // The last call may still be reading.
    for (int k = 0; k < VEC; ++k) of_warp[threadIdx.y][k * 32 + threadIdx.x] = sum[k];
    __syncthreads();
    if (threadIdx.y != 0 || column >= columns) return;
    for (int k = 0; k < VEC; ++k) {
        float total = 0.0f;
        for (int warp = 0; warp < WARPS; ++warp) total += of_warp[warp][k * 32 + threadIdx.x];
        to[column + k] = total;
    }
}

// Adds up partial sums of columns, always in the same order.
template <typename T>
__global__ void __launch_bounds__(256) add_parts_kernel(
        const float* __restrict__ parts, T* __restrict__ to, int64_t count, int64_t columns) {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x;
    float sum[1] = {};
    if (column < columns)
        for (int64_t part = threadIdx.y; part < count; part += 8) sum[0] += parts[part * columns + column];
    __shared__ float of_warp[8][32];
    of_warp[threadIdx.y][threadIdx.x] = sum[0];
    __syncthreads();
    if (threadIdx.y != 0 || column >= columns) return;
    float total = 0.0f;
    for (int warp = 0; warp < 8; ++warp) total += of_warp[warp][threadIdx.x];
    to[column] = total;
}

template <typename T>
void add_parts(const float* parts, T* to, int64_t count, int64_t columns) {
    if (columns == 0) return;
    const dim3 threads(32, 8);
    add_parts_kernel<<<(columns + 31) / 32, threads, 0, at::cuda::getCurrentCUDAStream()>>>(parts, to, count, columns);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}"""

JOIN_PARTS = """\
// Joins the pieces of each row; one warp to a row.
template <typename Op>
__global__ void __launch_bounds__(32) join_parts_kernel(
        const float* __restrict__ parts, float* __restrict__ to, int64_t pieces) {
    float value = Op::identity();
    for (int64_t piece = threadIdx.x; piece < pieces; piece += 32)
        value = Op::join(value, parts[blockIdx.x * pieces + piece]);
    value = over_row<Op, 32>(value);
    if (threadIdx.x == 0) to[blockIdx.x] = value;
}

template <typename Op>
void join_parts(const torch::Tensor& parts, const torch::Tensor& to, int64_t rows, int64_t pieces) {
    join_parts_kernel<Op><<<rows, 32, 0, at::cuda::getCurrentCUDAStream()>>>(
            parts.data_ptr<float>(), to.data_ptr<float>(), pieces);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}"""
