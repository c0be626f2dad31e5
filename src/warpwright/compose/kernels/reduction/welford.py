"""Device functions for Welford statistics of packs, threads, warps and blocks."""

from __future__ import annotations

from warpwright.compose.code.definitions import verbatim

SPREADS = verbatim(
    """\
// Of a set of numbers: how many, their mean, and the sum of their squared distances from it.
struct Spread {
    float count, mean, squares;
};

// Of two sets together.
__device__ Spread both(Spread a, Spread b) {
    if (a.count == 0.0f) return b;
    if (b.count == 0.0f) return a;
    const float count = a.count + b.count, apart = b.mean - a.mean, share = b.count / count;
    return Spread{count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
}

// Of numbers whose distances from one of about their size add up to these.
__device__ Spread around(float about, float count, float sum, float squares) {
    if (count == 0.0f) return Spread{};
    const float shift = sum / count, left = squares - sum * shift;
    return Spread{count, about + shift, left < 0.0f ? 0.0f : left};
}

template <int VEC>
__device__ Spread spread_of(const float (&values)[VEC]) {
    float sum = 0.0f, squares = 0.0f;
    #pragma unroll
    for (int k = 0; k < VEC; ++k) sum += values[k];
    const float mean = sum / VEC;
    #pragma unroll
    for (int k = 0; k < VEC; ++k) squares += (values[k] - mean) * (values[k] - mean);
    return Spread{VEC, mean, squares};
}

// Of what the threads of a warp have seen. Distances are taken from the mean of its first thread: since that is made of
// some of the numbers, little cancels in the end.
template <int THREADS>
__device__ Spread spread_of_warp(Spread own) {
    const float about = __shfl_sync(neighbours<THREADS>(), own.mean, 0, NEAR<THREADS>), apart = own.mean - about;
    float count = own.count, sum = own.count * apart, squares = own.squares + sum * apart;
    for (int offset = NEAR<THREADS> / 2; offset > 0; offset /= 2) {
        count += __shfl_xor_sync(neighbours<THREADS>(), count, offset);
        sum += __shfl_xor_sync(neighbours<THREADS>(), sum, offset);
        squares += __shfl_xor_sync(neighbours<THREADS>(), squares, offset);
    }
    return around(about, count, sum, squares);
}

// Of what the THREADS threads that share a row have seen; every one of them gets it.
template <int THREADS>
__device__ Spread spread_of_row(Spread spread) {
    spread = spread_of_warp<THREADS>(spread);
    if constexpr (THREADS > 32) {
        __shared__ Spread of_warp[THREADS / 32];
        __syncthreads();  // The last call may still be reading.
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = spread;
        __syncthreads();
        spread = threadIdx.x % 32 < THREADS / 32 ? of_warp[threadIdx.x % 32] : Spread{};
        spread = spread_of_warp<32>(spread);
    }
    return spread;
}"""
)

GATHERED = verbatim(
    """\
// The same of numbers that a thread meets pack by pack, by their distances from the mean of its first pack.
struct Gathered {
    float count = 0.0f, about = 0.0f, sum = 0.0f, squares = 0.0f;

    template <int VEC>
    __device__ void take(const float (&values)[VEC], bool is_first) {
        if (is_first) about = spread_of(values).mean;
        #pragma unroll
        for (int k = 0; k < VEC; ++k) {
            const float apart = values[k] - about;
            sum += apart;
            squares += apart * apart;
        }
        count += VEC;
    }
    __device__ Spread spread() const { return around(about, count, sum, squares); }
};"""
)

SPREAD_OF_ALL = verbatim(
    """\
// Of what several blocks have found.
template <int BLOCKS>
__device__ Spread spread_of_all(
        const float (&counts)[BLOCKS], const float (&means)[BLOCKS], const float (&squares)[BLOCKS]) {
    float count = 0.0f, sum = 0.0f, distances = 0.0f;
    #pragma unroll
    for (int block = 0; block < BLOCKS; ++block) {
        count += counts[block];
        sum += counts[block] * means[block];
    }
    const float mean = sum / count;
    #pragma unroll
    for (int block = 0; block < BLOCKS; ++block) {
        const float apart = means[block] - mean;
        distances += squares[block] + counts[block] * apart * apart;
    }
    return Spread{count, mean, distances};
}"""
)
