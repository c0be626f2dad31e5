"""Device functions that reduce over the threads of a row."""

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
// NaN propagates, as in torch.
struct Max {
    static __device__ float identity() { return -INFINITY; }
    static __device__ float join(float a, float b) { return a > b || a != a ? a : b; }
};"""),
    Op.AMIN: verbatim("""\
// NaN propagates, as in torch.
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
// The number of lanes of a warp that share a row, and their shuffle mask.
template <int THREADS>
constexpr int LANES = THREADS < 32 ? THREADS : 32;

template <int THREADS>
__device__ unsigned row_lanes() {
    if constexpr (THREADS >= 32) return 0xffffffff;
    return ((1u << (THREADS % 32)) - 1) << (threadIdx.x % 32 / LANES<THREADS> * LANES<THREADS>);
}"""
)

OVER_ROW = verbatim(
    """\
// Reduces over the THREADS threads of a row; every thread gets the result.
template <typename Op, int THREADS>
__device__ float row_reduce(float value) {
    for (int offset = LANES<THREADS> / 2; offset > 0; offset /= 2)
        value = Op::join(value, __shfl_xor_sync(row_lanes<THREADS>(), value, offset));
    if constexpr (THREADS > 32) {
        __shared__ float of_warp[THREADS / 32];
        __syncthreads();  // A previous call may still be reading.
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
// Reduces several values at once, with as many barriers as one value needs.
template <typename Op, int THREADS, typename... Floats>
__device__ void row_reduce_all(Floats&... values) {
    constexpr int COUNT = sizeof...(values);
    float all[COUNT] = {values...};
    const auto warp_reduce = [&](int width, unsigned mask) {
        for (int offset = width / 2; offset > 0; offset /= 2)
            for (float& value : all) value = Op::join(value, __shfl_xor_sync(mask, value, offset));
    };
    warp_reduce(LANES<THREADS>, row_lanes<THREADS>());
    if constexpr (THREADS > 32) {
        __shared__ float of_warp[COUNT][THREADS / 32];
        __syncthreads();  // A previous call may still be reading.
        if (threadIdx.x % 32 == 0)
            for (int i = 0; i < COUNT; ++i) of_warp[i][threadIdx.x / 32] = all[i];
        __syncthreads();
        for (int i = 0; i < COUNT; ++i)
            all[i] = threadIdx.x % 32 < THREADS / 32 ? of_warp[i][threadIdx.x % 32] : Op::identity();
        warp_reduce(32, 0xffffffff);
    }
    int i = 0;
    ((values = all[i++]), ...);
}"""
)

BEST = verbatim(
    """\
// A value and its position. Larger values are better and NaN is best; ties go to the lower position, as in torch.
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
    for (int offset = LANES<THREADS> / 2; offset > 0; offset /= 2) {
        const float value = __shfl_xor_sync(row_lanes<THREADS>(), best.value, offset);
        const int at = __shfl_xor_sync(row_lanes<THREADS>(), best.at, offset);
        best = better(best, Best{value, at});
    }
    return best;
}"""
)

BEST_OF_ROW = verbatim(
    """\
// The best of the THREADS threads of a row; every thread gets it.
template <int THREADS>
__device__ Best best_of_row(Best best) {
    best = best_of_warp<THREADS>(best);
    if constexpr (THREADS > 32) {
        __shared__ Best of_warp[THREADS / 32];
        __syncthreads();  // A previous call may still be reading.
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
// Online softmax across the lanes of a row: merges running maxima and the sums of exponentials relative to them.
template <int THREADS>
__device__ void warp_online_softmax(float& largest, float& total) {
    const float own = largest;
    for (int offset = LANES<THREADS> / 2; offset > 0; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(row_lanes<THREADS>(), largest, offset));
    total *= expf(own - (isinf(largest) ? 0.0f : largest));
    for (int offset = LANES<THREADS> / 2; offset > 0; offset /= 2)
        total += __shfl_xor_sync(row_lanes<THREADS>(), total, offset);
}

// Online softmax across the THREADS threads of a row: every thread gets the maximum, and the sum in `total`.
template <int THREADS>
__device__ float row_online_softmax(float largest, float& total) {
    warp_online_softmax<THREADS>(largest, total);
    if constexpr (THREADS > 32) {
        __shared__ float2 of_warp[THREADS / 32];
        __syncthreads();  // A previous call may still be reading.
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = {largest, total};
        __syncthreads();
        const bool is_one = threadIdx.x % 32 < THREADS / 32;
        largest = is_one ? of_warp[threadIdx.x % 32].x : -INFINITY;
        total = is_one ? of_warp[threadIdx.x % 32].y : 0.0f;
        warp_online_softmax<32>(largest, total);
    }
    return largest;
}"""
)
