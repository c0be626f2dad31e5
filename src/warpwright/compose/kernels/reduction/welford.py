"""Device functions that compute and merge Welford statistics of packs, threads, warps and blocks."""

from __future__ import annotations

from warpwright.compose.code.definitions import verbatim

WELFORD = verbatim(
    """\
// Welford statistics: count, mean, and sum of squared deviations from the mean.
struct Welford {
    float count, mean, m2;
};

// Merges the statistics of two sets (Chan's formula).
__device__ Welford merge(Welford a, Welford b) {
    if (a.count == 0.0f) return b;
    if (b.count == 0.0f) return a;
    const float count = a.count + b.count, delta = b.mean - a.mean, share = b.count / count;
    return Welford{count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share};
}

// Statistics from the sums of x - pivot and of (x - pivot)^2; a pivot near the mean avoids cancellation.
__device__ Welford from_shifted_sums(float pivot, float count, float sum, float squares) {
    if (count == 0.0f) return Welford{};
    const float shift = sum / count, m2 = squares - sum * shift;
    return Welford{count, pivot + shift, m2 < 0.0f ? 0.0f : m2};
}

template <int VEC>
__device__ Welford welford_of_pack(const float (&values)[VEC]) {
    float sum = 0.0f, m2 = 0.0f;
    #pragma unroll
    for (int k = 0; k < VEC; ++k) sum += values[k];
    const float mean = sum / VEC;
    #pragma unroll
    for (int k = 0; k < VEC; ++k) m2 += (values[k] - mean) * (values[k] - mean);
    return Welford{VEC, mean, m2};
}

// Merges the statistics of the lanes of a row within one warp by sums shifted to the first lane's mean, which is close
// to the mean of all, so little cancels.
template <int THREADS>
__device__ Welford welford_of_warp(Welford own) {
    const float pivot = __shfl_sync(row_lanes<THREADS>(), own.mean, 0, LANES<THREADS>), delta = own.mean - pivot;
    float count = own.count, sum = own.count * delta, squares = own.m2 + sum * delta;
    for (int offset = LANES<THREADS> / 2; offset > 0; offset /= 2) {
        count += __shfl_xor_sync(row_lanes<THREADS>(), count, offset);
        sum += __shfl_xor_sync(row_lanes<THREADS>(), sum, offset);
        squares += __shfl_xor_sync(row_lanes<THREADS>(), squares, offset);
    }
    return from_shifted_sums(pivot, count, sum, squares);
}

// Merges the statistics of the THREADS threads of a row; every thread gets the result.
template <int THREADS>
__device__ Welford welford_of_row(Welford own) {
    own = welford_of_warp<THREADS>(own);
    if constexpr (THREADS > 32) {
        __shared__ Welford of_warp[THREADS / 32];
        __syncthreads();  // A previous call may still be reading.
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
        __syncthreads();
        own = threadIdx.x % 32 < THREADS / 32 ? of_warp[threadIdx.x % 32] : Welford{};
        own = welford_of_warp<32>(own);
    }
    return own;
}"""
)

SHIFTED_MOMENTS = verbatim(
    """\
// Accumulates packs as sums shifted to the mean of the thread's first pack.
struct ShiftedMoments {
    float count = 0.0f, pivot = 0.0f, sum = 0.0f, squares = 0.0f;

    template <int VEC>
    __device__ void take(const float (&values)[VEC], bool is_first) {
        if (is_first) pivot = welford_of_pack(values).mean;
        #pragma unroll
        for (int k = 0; k < VEC; ++k) {
            const float delta = values[k] - pivot;
            sum += delta;
            squares += delta * delta;
        }
        count += VEC;
    }
    __device__ Welford statistics() const { return from_shifted_sums(pivot, count, sum, squares); }
};"""
)

WELFORD_OF_BLOCKS = verbatim(
    """\
// Merges the statistics of several blocks.
template <int BLOCKS>
__device__ Welford welford_of_blocks(
        const float (&counts)[BLOCKS], const float (&means)[BLOCKS], const float (&m2s)[BLOCKS]) {
    float count = 0.0f, sum = 0.0f, m2 = 0.0f;
    #pragma unroll
    for (int block = 0; block < BLOCKS; ++block) {
        count += counts[block];
        sum += counts[block] * means[block];
    }
    const float mean = sum / count;
    #pragma unroll
    for (int block = 0; block < BLOCKS; ++block) {
        const float delta = means[block] - mean;
        m2 += m2s[block] + counts[block] * delta * delta;
    }
    return Welford{count, mean, m2};
}"""
)
