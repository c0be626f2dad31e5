"""Device functions by which the threads of a row join what each of them has found."""

from __future__ import annotations

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.ir.operations import Op

JOINS = {
    Op.SUM: verbatim("""\
struct Sum {
    static __device__ float identity() { return 0.0f; }
    static __device__ float join(float a, float b) { return a + b; }
};"""),
    Op.AMAX: verbatim("""\
// NaN wins, as in torch.
struct Max {
    static __device__ float identity() { return -INFINITY; }
    static __device__ float join(float a, float b) { return a > b || a != a ? a : b; }
};"""),
    Op.AMIN: verbatim("""\
// NaN wins, as in torch.
struct Min {
    static __device__ float identity() { return INFINITY; }
    static __device__ float join(float a, float b) { return a < b || a != a ? a : b; }
};"""),
    Op.PROD: verbatim("""\
struct Product {
    static __device__ float identity() { return 1.0f; }
    static __device__ float join(float a, float b) { return a * b; }
};"""),
}
JOIN_NAMES = {Op.SUM: "Sum", Op.AMAX: "Max", Op.AMIN: "Min", Op.PROD: "Product"}

NEIGHBOURS = verbatim(
    """\
// Threads of a row that are in the same warp, and the mask that names them.
template <int THREADS>
constexpr int NEAR = THREADS < 32 ? THREADS : 32;

template <int THREADS>
__device__ unsigned neighbours() {
    if constexpr (THREADS >= 32) return 0xffffffff;
    return ((1u << (THREADS % 32)) - 1) << (threadIdx.x % 32 / NEAR<THREADS> * NEAR<THREADS>);
}"""
)

OVER_ROW = verbatim(
    """\
// One number from the THREADS threads that share a row; every one of them gets it.
template <typename Op, int THREADS>
__device__ float over_row(float value) {
    for (int offset = NEAR<THREADS> / 2; offset > 0; offset /= 2)
        value = Op::join(value, __shfl_xor_sync(neighbours<THREADS>(), value, offset));
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
)

ALL_OVER_ROW = verbatim(
    """\
// The same for several numbers at once: the threads meet as often as for one.
template <typename Op, int THREADS, typename... Floats>
__device__ void all_over_row(Floats&... values) {
    constexpr int COUNT = sizeof...(values);
    float all[COUNT] = {values...};
    const auto over_warp = [&](int width, unsigned mask) {
        for (int offset = width / 2; offset > 0; offset /= 2)
            for (float& value : all) value = Op::join(value, __shfl_xor_sync(mask, value, offset));
    };
    over_warp(NEAR<THREADS>, neighbours<THREADS>());
    if constexpr (THREADS > 32) {
        __shared__ float of_warp[COUNT][THREADS / 32];
        __syncthreads();  // The last call may still be reading.
        if (threadIdx.x % 32 == 0)
            for (int i = 0; i < COUNT; ++i) of_warp[i][threadIdx.x / 32] = all[i];
        __syncthreads();
        for (int i = 0; i < COUNT; ++i)
            all[i] = threadIdx.x % 32 < THREADS / 32 ? of_warp[i][threadIdx.x % 32] : Op::identity();
        over_warp(32, 0xffffffff);
    }
    int i = 0;
    ((values = all[i++]), ...);
}"""
)

BEST = verbatim(
    """\
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

template <int THREADS>
__device__ Best best_of_warp(Best best) {
    for (int offset = NEAR<THREADS> / 2; offset > 0; offset /= 2) {
        const float value = __shfl_xor_sync(neighbours<THREADS>(), best.value, offset);
        const int at = __shfl_xor_sync(neighbours<THREADS>(), best.at, offset);
        best = better(best, Best{value, at});
    }
    return best;
}"""
)

BEST_OF_ROW = verbatim(
    """\
// The best over the THREADS threads that share a row; every one of them gets it.
template <int THREADS>
__device__ Best best_of_row(Best best) {
    best = best_of_warp<THREADS>(best);
    if constexpr (THREADS > 32) {
        __shared__ Best of_warp[THREADS / 32];
        __syncthreads();  // The last call may still be reading.
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = best;
        __syncthreads();
        best = of_warp[threadIdx.x % 32 < THREADS / 32 ? threadIdx.x % 32 : 0];
        best = best_of_warp<32>(best);
    }
    return best;
}"""
)

SCORES = verbatim(
    """\
// The largest of a warp's threads, and the sum of what they have summed relative to their own largest.
template <int THREADS>
__device__ void join_scores(float& largest, float& total) {
    const float own = largest;
    for (int offset = NEAR<THREADS> / 2; offset > 0; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(neighbours<THREADS>(), largest, offset));
    total *= expf(own - (isinf(largest) ? 0.0f : largest));
    for (int offset = NEAR<THREADS> / 2; offset > 0; offset /= 2)
        total += __shfl_xor_sync(neighbours<THREADS>(), total, offset);
}

// The same for the THREADS threads that share a row; every one of them gets both.
template <int THREADS>
__device__ float over_scores(float largest, float& total) {
    join_scores<THREADS>(largest, total);
    if constexpr (THREADS > 32) {
        __shared__ float2 of_warp[THREADS / 32];
        __syncthreads();  // The last call may still be reading.
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = {largest, total};
        __syncthreads();
        const bool is_one = threadIdx.x % 32 < THREADS / 32;
        largest = is_one ? of_warp[threadIdx.x % 32].x : -INFINITY;
        total = is_one ? of_warp[threadIdx.x % 32].y : 0.0f;
        join_scores<32>(largest, total);
    }
    return largest;
}"""
)
