// topk_gating, forward: Picks the k likeliest experts of each token and scales their probabilities to add up to one.
// T is one of fp32, bf16, fp16.
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace {

// Threads of a block, one row each, for E = 8.
// tune: THREADS8 = 64, 128, 256
constexpr int THREADS8 = 128;
// Lanes for each row of 128.
// tune: G128 = 4, 8, 16
constexpr int G128 = 4;
// Lanes for each row of 256.
// tune: G256 = 4, 8
constexpr int G256 = 4;
// Threads of a block for E = 128 and 256.
// tune: THREADS = 64, 128, 256
constexpr int THREADS = 128;

constexpr int SMALL_N = 2048;        // up to here latency decides: more lanes for each row
constexpr int SMALL_G = 16;
constexpr int SMALL_THREADS = 32;
constexpr int GENERAL_THREADS = 128;
constexpr unsigned FULL = 0xffffffffu;

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

// exp(d) for d <= 0.
__device__ __forceinline__ float fast_exp(float d) {
    const float t = d * 1.4426950408889634f;
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(t));
    return r;
}

// 16 bytes to floats: 4 of fp32, 8 of the 16-bit types.
template <typename T>
__device__ __forceinline__ void unpack16(const uint4 u, float* x) {
    const unsigned w[4] = {u.x, u.y, u.z, u.w};
    if constexpr (std::is_same_v<T, float>) {
#pragma unroll
        for (int i = 0; i < 4; ++i) x[i] = __uint_as_float(w[i]);
    } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            x[2 * i] = __uint_as_float(w[i] << 16);
            x[2 * i + 1] = __uint_as_float(w[i] & 0xffff0000u);
        }
    } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            x[2 * i] = __half2float(__ushort_as_half(static_cast<unsigned short>(w[i] & 0xffffu)));
            x[2 * i + 1] = __half2float(__ushort_as_half(static_cast<unsigned short>(w[i] >> 16)));
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------
// General path: one warp does one row, any E, any k <= E.

__device__ __forceinline__ unsigned long long make_key(float v, int e) {
    const unsigned b = __float_as_uint(v);
    unsigned u = (b & 0x80000000u) ? ~b : (b | 0x80000000u);
    if (v != v) u = 0xffffffffu;  // NaN is the largest, as in topk
    return (static_cast<unsigned long long>(u) << 32) | (0x7fffffffu - static_cast<unsigned>(e));
}

template <typename T>
__device__ __noinline__ void general_row(const T* row, int E, int k, float* w, long long* idx, int lane) {
    unsigned long long prev = ~0ull;  // above every key
    float top = 0.0f;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        unsigned long long best = 0ull;
        for (int e = lane; e < E; e += 32) {
            const unsigned long long key = make_key(to_float(row[e]), e);
            if (key < prev && key > best) best = key;
        }
#pragma unroll
        for (int off = 16; off > 0; off >>= 1) {
            const unsigned long long other = __shfl_xor_sync(FULL, best, off);
            if (other > best) best = other;
        }
        prev = best;
        const unsigned u = static_cast<unsigned>(best >> 32);
        const float v = __uint_as_float((u & 0x80000000u) ? (u ^ 0x80000000u) : ~u);
        const int e = static_cast<int>(0x7fffffffu - static_cast<unsigned>(best & 0xffffffffull));
        if (i == 0) top = v;
        const float ex = expf(v - top);
        sum += ex;
        if (lane == (i & 31)) {
            w[i] = ex;
            idx[i] = e;
        }
    }
    // Each lane scales what it wrote itself.
    for (int i = lane; i < k; i += 32) w[i] = w[i] / sum;
}

template <typename T>
__global__ void __launch_bounds__(GENERAL_THREADS)
general_kernel(const T* logits, float* weights, long long* indices, int64_t N, int E, int k) {
    const int lane = threadIdx.x & 31;
    const int64_t row = static_cast<int64_t>(blockIdx.x) * (GENERAL_THREADS / 32) + (threadIdx.x >> 5);
    if (row >= N) return;  // the whole warp
    general_row<T>(logits + row * E, E, k, weights + row * k, indices + row * k, lane);
}

// ---------------------------------------------------------------------------------------------------------------
// E = 8, k = 2: one thread does one row.

struct Top2 {
    float a;
    float b;
    int ia;
    int ib;
};

__device__ __forceinline__ Top2 pair2(float x, float y, int ix) {
    const bool p = x >= y;
    Top2 r;
    r.a = p ? x : y;
    r.b = p ? y : x;
    r.ia = p ? ix : ix + 1;
    r.ib = p ? ix + 1 : ix;
    return r;
}

__device__ __forceinline__ Top2 merge2(const Top2& x, const Top2& y) {
    const bool p = x.a >= y.a;
    Top2 r;
    r.a = p ? x.a : y.a;
    r.ia = p ? x.ia : y.ia;
    const float c = p ? y.a : x.a;    // the head that lost
    const int ic = p ? y.ia : x.ia;
    const float d = p ? x.b : y.b;    // the second of the one that won
    const int id = p ? x.ib : y.ib;
    const bool s = d >= c;
    r.b = s ? d : c;
    r.ib = s ? id : ic;
    return r;
}

template <typename T>
__global__ void __launch_bounds__(THREADS8)
top2_of8_kernel(const T* __restrict__ logits, float2* __restrict__ weights, longlong2* __restrict__ indices,
                int64_t N) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * THREADS8 + threadIdx.x;
    if (row >= N) return;
    constexpr int V = 16 / static_cast<int>(sizeof(T));
    constexpr int L = 8 / V;
    const uint4* src = reinterpret_cast<const uint4*>(logits + row * 8);
    uint4 raw[L];
#pragma unroll
    for (int l = 0; l < L; ++l) raw[l] = __ldg(src + l);
    float x[8];
#pragma unroll
    for (int l = 0; l < L; ++l) unpack16<T>(raw[l], x + l * V);

    const Top2 t = merge2(merge2(pair2(x[0], x[1], 0), pair2(x[2], x[3], 2)),
                          merge2(pair2(x[4], x[5], 4), pair2(x[6], x[7], 6)));
    float poison = 0.0f;  // one NaN makes the whole softmax NaN
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        if (x[j] != x[j]) poison = x[j];
    }
    const float e0 = expf(t.a - t.a);  // 1, or NaN for infinities
    const float e1 = expf(t.b - t.a);
    const float s = e0 + e1 + poison;
    weights[row] = make_float2(e0 / s, e1 / s);
    indices[row] = make_longlong2(t.ia, t.ib);
}

// ---------------------------------------------------------------------------------------------------------------
// E = 128 or 256, k = 8: G lanes do one row.

// The larger one first.
__device__ __forceinline__ void order2(float& a, float& b) {
    const float hi = fmaxf(a, b);
    const float lo = fminf(a, b);
    a = hi;
    b = lo;
}

// Batcher's network, descending.
__device__ __forceinline__ void sort8(float (&v)[8]) {
    order2(v[0], v[1]); order2(v[2], v[3]); order2(v[4], v[5]); order2(v[6], v[7]);
    order2(v[0], v[2]); order2(v[1], v[3]); order2(v[4], v[6]); order2(v[5], v[7]);
    order2(v[1], v[2]); order2(v[5], v[6]);
    order2(v[0], v[4]); order2(v[1], v[5]); order2(v[2], v[6]); order2(v[3], v[7]);
    order2(v[2], v[4]); order2(v[3], v[5]);
    order2(v[1], v[2]); order2(v[3], v[4]); order2(v[5], v[6]);
}

// v and w descending; afterwards v holds the eight largest of both, descending.
__device__ __forceinline__ void merge8(float (&v)[8], const float (&w)[8]) {
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = fmaxf(v[i], w[7 - i]);
    order2(v[0], v[4]); order2(v[1], v[5]); order2(v[2], v[6]); order2(v[3], v[7]);
    order2(v[0], v[2]); order2(v[1], v[3]); order2(v[4], v[6]); order2(v[5], v[7]);
    order2(v[0], v[1]); order2(v[2], v[3]); order2(v[4], v[5]); order2(v[6], v[7]);
}

template <typename T, int E, int G, int BLOCK>
__global__ void __launch_bounds__(BLOCK, 512 / BLOCK)
top8_kernel(const T* __restrict__ logits, float* __restrict__ weights, long long* __restrict__ indices, int64_t N) {
    constexpr int K = 8;
    constexpr bool PACKED = sizeof(T) == 2;
    constexpr int C = E / G;                            // elements of a lane
    constexpr int V = 16 / static_cast<int>(sizeof(T)); // elements of a load
    constexpr int L = C / V;                            // loads of a lane
    constexpr int P = G <= K ? K / G : 1;               // results that a lane writes
    constexpr int W = C < 32 ? C : 32;                  // bits of a mask
    constexpr int H = C / W;                            // masks
    static_assert(C % 8 == 0 && L * V == C && H * W == C && H <= 2 && G <= 32, "shape");
    static_assert((E & (E - 1)) == 0 && (G & (G - 1)) == 0 && E <= 4096, "powers of two");

    const int lane = threadIdx.x & 31;
    const int q = lane & (G - 1);
    const int64_t first_row =
        (static_cast<int64_t>(blockIdx.x) * BLOCK + static_cast<int64_t>(threadIdx.x & ~31u)) / G;  // of the warp
    const int64_t row = first_row + lane / G;
    const bool live = row < N;
    const T* src = logits + (live ? row : N - 1) * E;

    uint4 raw[L];
#pragma unroll
    for (int l = 0; l < L; ++l) raw[l] = __ldg(reinterpret_cast<const uint4*>(src) + l * G + q);

    // Element c of load l has index l * G * V + q * V + c, three fields of bits that do not overlap.
    float x[C];
#pragma unroll
    for (int l = 0; l < L; ++l) {
        unpack16<T>(raw[l], x + l * V);
        if constexpr (PACKED) {
#pragma unroll
            for (int c = 0; c < V; ++c) {
                x[l * V + c] =
                    __uint_as_float(__float_as_uint(x[l * V + c]) | static_cast<unsigned>(l * G * V + c));
            }
        }
    }

    // Stays zero unless there is a NaN or an infinity.
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int j = 0; j < C; ++j) acc[j & 3] = fmaf(x[j], 0.0f, acc[j & 3]);
    const float acc_all = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    const unsigned odd_lanes = __ballot_sync(FULL, !(acc_all == 0.0f));

    // The top 8 of the lane.
    float v[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = x[i];
    sort8(v);
#pragma unroll
    for (int b = 1; b < C / 8; ++b) {
        float w[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) w[i] = x[b * 8 + i];
        sort8(w);
        merge8(v, w);
    }
    if constexpr (PACKED) {
#pragma unroll
        for (int i = 0; i < 8; ++i) v[i] = __uint_as_float(__float_as_uint(v[i]) | static_cast<unsigned>(q * V));
    }
    // The top 8 of the row, in all of its lanes.
#pragma unroll
    for (int off = 1; off < G; off <<= 1) {
        float w[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) w[i] = __shfl_xor_sync(FULL, v[i], off);
        merge8(v, w);
    }

    constexpr unsigned GROUP = G == 32 ? 0xffffffffu : ((1u << (G & 31)) - 1u);
    bool bad = ((odd_lanes >> (lane & ~(G - 1))) & GROUP) != 0u;

    unsigned s0 = 0u;
    unsigned s1 = 0u;
    if constexpr (!PACKED) {
        // Which elements of the lane are at least the 8th value? Element j of a mask is bit W - 1 - j.
        const float threshold = v[7];
        unsigned sel[H];
#pragma unroll
        for (int h = 0; h < H; ++h) {
            unsigned m = 0u;
#pragma unroll
            for (int b = 0; b < W / 8; ++b) {
                unsigned below = 0u;
#pragma unroll
                for (int t = 0; t < 8; ++t) {
                    const float d = x[h * W + b * 8 + t] - threshold;
                    below = __funnelshift_l(__float_as_uint(d), below, 1);  // appends the sign
                }
                m = (m << 8) | below;
            }
            sel[h] = ~m & (W == 32 ? 0xffffffffu : ((1u << (W & 31)) - 1u));
        }
        s0 = sel[0];
        if constexpr (H > 1) s1 = sel[H - 1];
        int count = __popc(s0) + __popc(s1);
#pragma unroll
        for (int off = 1; off < G; off <<= 1) count += __shfl_xor_sync(FULL, count, off);
        bool strict = true;
#pragma unroll
        for (int i = 0; i < 7; ++i) strict = strict && (v[i] > v[i + 1]);
        bad = bad || !strict || count != K;
    }

    const bool ok = live && !bad;
    unsigned todo = __ballot_sync(FULL, live && bad && q == 0);

    if (ok) {
        constexpr unsigned VALUE = PACKED ? ~static_cast<unsigned>(E - 1) : 0xffffffffu;
        const float top = __uint_as_float(__float_as_uint(v[0]) & VALUE);
        float ex[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) ex[i] = fast_exp(__uint_as_float(__float_as_uint(v[i]) & VALUE) - top);
        const float sum = ((ex[0] + ex[1]) + (ex[2] + ex[3])) + ((ex[4] + ex[5]) + (ex[6] + ex[7]));

        if (q * P < K) {
            float mine[P];
#pragma unroll
            for (int p = 0; p < P; ++p) mine[p] = v[p];
#pragma unroll
            for (int s = 1; s < K / P; ++s) {
                if (q == s) {
#pragma unroll
                    for (int p = 0; p < P; ++p) mine[p] = v[s * P + p];
                }
            }
            float out[P];
#pragma unroll
            for (int p = 0; p < P; ++p) {
                out[p] = fast_exp(__uint_as_float(__float_as_uint(mine[p]) & VALUE) - top) / sum;
            }
            float* wp = weights + row * K + q * P;
            if constexpr (P == 2) {
                *reinterpret_cast<float2*>(wp) = make_float2(out[0], out[1]);
            } else {
#pragma unroll
                for (int p = 0; p < P; ++p) wp[p] = out[p];
            }
            if constexpr (PACKED) {
                long long place[P];
#pragma unroll
                for (int p = 0; p < P; ++p) {
                    place[p] = static_cast<long long>(__float_as_uint(mine[p]) & static_cast<unsigned>(E - 1));
                }
                long long* ip = indices + row * K + q * P;
                if constexpr (P == 2) {
                    *reinterpret_cast<longlong2*>(ip) = make_longlong2(place[0], place[1]);
                } else {
#pragma unroll
                    for (int p = 0; p < P; ++p) ip[p] = place[p];
                }
            }
        }

        if constexpr (!PACKED) {
            long long* ip = indices + row * K;
            while ((s0 | s1) != 0u) {
                const bool low = s0 != 0u;
                const unsigned cur = low ? s0 : s1;
                const int bit = 31 - __clz(static_cast<int>(cur));
                const unsigned rest = cur ^ (1u << bit);
                if (low) {
                    s0 = rest;
                } else {
                    s1 = rest;
                }
                const int j = (W - 1 - bit) + (low ? 0 : W);
                const int e = (j / V) * (G * V) + q * V + (j & (V - 1));
                const float value = to_float(__ldg(src + e));
                int rank = 0;
#pragma unroll
                for (int i = 0; i < 7; ++i) rank += (v[i] > value) ? 1 : 0;
                ip[rank] = e;
            }
        }
    }

    // Rows with ties (fp32 only), NaN or infinities.
    __syncwarp();
    while (todo != 0u) {
        const int l = __ffs(static_cast<int>(todo)) - 1;
        todo &= todo - 1u;
        const int64_t r = first_row + l / G;
        general_row<T>(logits + r * E, E, K, weights + r * K, indices + r * K, lane);
    }
}

template <typename T, int E, int G, int BLOCK>
void launch_top8(const T* in, float* w, long long* ix, int64_t N, cudaStream_t stream) {
    const int64_t blocks = (N * G + BLOCK - 1) / BLOCK;
    top8_kernel<T, E, G, BLOCK><<<static_cast<unsigned>(blocks), BLOCK, 0, stream>>>(in, w, ix, N);
}

template <typename T>
void launch(const torch::Tensor& logits, int64_t k, torch::Tensor& weights, torch::Tensor& indices) {
    const int64_t N = logits.size(0);
    const int64_t E = logits.size(1);
    const T* in = reinterpret_cast<const T*>(logits.data_ptr());
    float* w = weights.data_ptr<float>();
    long long* ix = reinterpret_cast<long long*>(indices.data_ptr<int64_t>());
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    const bool aligned = (reinterpret_cast<uintptr_t>(in) & 15u) == 0u &&
                         (reinterpret_cast<uintptr_t>(w) & 15u) == 0u &&
                         (reinterpret_cast<uintptr_t>(ix) & 15u) == 0u;
    if (aligned && E == 8 && k == 2) {
        const int64_t blocks = (N + THREADS8 - 1) / THREADS8;
        top2_of8_kernel<T><<<static_cast<unsigned>(blocks), THREADS8, 0, stream>>>(
            in, reinterpret_cast<float2*>(w), reinterpret_cast<longlong2*>(ix), N);
    } else if (aligned && E == 128 && k == 8) {
        if (N <= SMALL_N) {
            launch_top8<T, 128, SMALL_G, SMALL_THREADS>(in, w, ix, N, stream);
        } else {
            launch_top8<T, 128, G128, THREADS>(in, w, ix, N, stream);
        }
    } else if (aligned && E == 256 && k == 8) {
        launch_top8<T, 256, G256, THREADS>(in, w, ix, N, stream);
    } else {
        constexpr int ROWS = GENERAL_THREADS / 32;
        const int64_t blocks = (N + ROWS - 1) / ROWS;
        general_kernel<T><<<static_cast<unsigned>(blocks), GENERAL_THREADS, 0, stream>>>(
            in, w, ix, N, static_cast<int>(E), static_cast<int>(k));
    }
}

}  // namespace

std::vector<torch::Tensor> forward(
    torch::Tensor logits,  // [N, E] T
    int64_t k  // such as 2, 4, 8, 6
) {
    TORCH_CHECK(logits.dim() == 2 && logits.is_contiguous(), "logits must be a contiguous matrix");
    const int64_t N = logits.size(0);
    TORCH_CHECK(k >= 1 && k <= logits.size(1), "k must be between 1 and E");
    torch::Tensor weights = torch::empty({N, k}, logits.options().dtype(torch::kFloat32));
    torch::Tensor indices = torch::empty({N, k}, logits.options().dtype(torch::kInt64));
    if (N == 0) return {weights, indices};
    const auto type = logits.scalar_type();
    if (type == torch::kFloat32) {
        launch<float>(logits, k, weights, indices);
    } else if (type == torch::kBFloat16) {
        launch<__nv_bfloat16>(logits, k, weights, indices);
    } else if (type == torch::kFloat16) {
        launch<__half>(logits, k, weights, indices);
    } else {
        TORCH_CHECK(false, "logits must be fp32, bf16 or fp16");
    }
    return {weights, indices};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward);
}
