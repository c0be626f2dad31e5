// argmax, forward: Finds the position of the largest element of each row.
// T is one of fp32, bf16, fp16.
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <utility>

namespace cg = cooperative_groups;

// Many rows: one block for each row.
// tune: ROW_THREADS = 128, 256, 512
constexpr int ROW_THREADS = 128;
// tune: ROW_UNROLL = 4, 8
constexpr int ROW_UNROLL = 8;

// Some long rows: a cluster for each row.
// tune: SPLIT_THREADS = 128, 256, 512
constexpr int SPLIT_THREADS = 256;
// tune: SPLIT_UNROLL = 4, 8
constexpr int SPLIT_UNROLL = 8;
// tune: SPLIT_CLUSTER = 4, 8
constexpr int SPLIT_CLUSTER = 8;

// Very few long rows: a cluster of 8 larger blocks for each row.
// tune: FEW_THREADS = 256, 512, 1024
constexpr int FEW_THREADS = 512;
constexpr int FEW_UNROLL = 2048 / FEW_THREADS;
constexpr int FEW_CLUSTER = 8;

// ---------------------------------------------------------------------------------------------------------------
// Types. "top" gives the NaN-propagating maximum of one 16-byte vector (for 16-bit types in both halves of the word),
// "merge" the NaN-propagating maximum of two such words. A NaN result is always the canonical one.

template <typename T>
struct Ops;

__device__ __forceinline__ float max_nan(float a, float b) {
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}

template <>
struct Ops<float> {
    static constexpr int W = 4;
    static constexpr uint32_t LOWEST = 0xff800000u;
    static __device__ __forceinline__ float load(const float* p) { return *p; }
    static __device__ __forceinline__ uint32_t merge(uint32_t a, uint32_t b) {
        return __float_as_uint(max_nan(__uint_as_float(a), __uint_as_float(b)));
    }
    static __device__ __forceinline__ uint32_t top(const uint4& v) { return merge(merge(v.x, v.y), merge(v.z, v.w)); }
    static __device__ __forceinline__ float value(uint32_t best) { return __uint_as_float(best); }
    template <int P>
    static __device__ __forceinline__ float element(const uint4& v) {
        return __uint_as_float(P == 0 ? v.x : P == 1 ? v.y : P == 2 ? v.z : v.w);
    }
};

template <>
struct Ops<__half> {
    static constexpr int W = 8;
    static constexpr uint32_t LOWEST = 0xfc00fc00u;
    static __device__ __forceinline__ float load(const __half* p) { return __half2float(*p); }
    static __device__ __forceinline__ uint32_t merge(uint32_t a, uint32_t b) {
        __half2 r = __hmax2_nan(*reinterpret_cast<__half2*>(&a), *reinterpret_cast<__half2*>(&b));
        return *reinterpret_cast<uint32_t*>(&r);
    }
    static __device__ __forceinline__ uint32_t top(const uint4& v) {
        const uint32_t m = merge(merge(v.x, v.y), merge(v.z, v.w));
        return merge(m, __byte_perm(m, 0u, 0x1032u));
    }
    static __device__ __forceinline__ float value(uint32_t best) {
        return __half2float(__ushort_as_half(static_cast<unsigned short>(best & 0xffffu)));
    }
    template <int P>
    static __device__ __forceinline__ float element(const uint4& v) {
        const uint32_t w = (P / 2) == 0 ? v.x : (P / 2) == 1 ? v.y : (P / 2) == 2 ? v.z : v.w;
        return value((P % 2) ? (w >> 16) : w);
    }
};

template <>
struct Ops<__nv_bfloat16> {
    static constexpr int W = 8;
    static constexpr uint32_t LOWEST = 0xff80ff80u;
    static __device__ __forceinline__ float load(const __nv_bfloat16* p) { return __bfloat162float(*p); }
    static __device__ __forceinline__ uint32_t merge(uint32_t a, uint32_t b) {
        __nv_bfloat162 r = __hmax2_nan(*reinterpret_cast<__nv_bfloat162*>(&a), *reinterpret_cast<__nv_bfloat162*>(&b));
        return *reinterpret_cast<uint32_t*>(&r);
    }
    static __device__ __forceinline__ uint32_t top(const uint4& v) {
        const uint32_t m = merge(merge(v.x, v.y), merge(v.z, v.w));
        return merge(m, __byte_perm(m, 0u, 0x1032u));
    }
    static __device__ __forceinline__ float value(uint32_t best) { return __uint_as_float(best << 16); }
    template <int P>
    static __device__ __forceinline__ float element(const uint4& v) {
        const uint32_t w = (P / 2) == 0 ? v.x : (P / 2) == 1 ? v.y : (P / 2) == 2 ? v.z : v.w;
        return __uint_as_float((P % 2) ? (w & 0xffff0000u) : (w << 16));
    }
};

// The first position in v whose element is b, or is NaN (then b is NaN too).
template <typename T, int P>
__device__ __forceinline__ int locate(const uint4& v, float b) {
    if constexpr (P + 1 >= Ops<T>::W) {
        return P;
    } else {
        const int later = locate<T, P + 1>(v, b);
        const float e = Ops<T>::template element<P>(v);
        return (e == b || e != e) ? P : later;
    }
}

// A larger number has a larger key, NaN the largest.
__device__ __forceinline__ uint32_t order_key(float b) {
    if (b != b) return 0xffffffffu;
    const uint32_t u = __float_as_uint(b);
    return (u & 0x80000000u) ? ~u : (u | 0x80000000u);
}

__device__ __forceinline__ uint4 load_stream(const uint4* p) {
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

// The largest key of the warp, and the smallest index that has it, in all lanes.
__device__ __forceinline__ uint2 warp_best(uint32_t key, uint32_t index) {
    const uint32_t top = __reduce_max_sync(0xffffffffu, key);
    const uint32_t where = __reduce_min_sync(0xffffffffu, key == top ? index : 0xffffffffu);
    return make_uint2(top, where);
}

// The best of units [begin, end) of a row, over the warp. A unit is a 16-byte vector or one element.
// A thread that meets nothing above -inf answers -inf at index 0, which is right if the whole row is -inf.
template <typename T, int THREADS, int UNROLL, bool VECTOR>
__device__ __forceinline__ uint2 scan(const T* __restrict__ row, int begin, int end) {
    const int tid = static_cast<int>(threadIdx.x);
    float b;
    uint32_t index;
    if constexpr (VECTOR) {
        using O = Ops<T>;
        const uint4* p = reinterpret_cast<const uint4*>(row);
        const int last = end - 1;
        uint32_t best = O::LOWEST;
        uint4 held = make_uint4(O::LOWEST, O::LOWEST, O::LOWEST, O::LOWEST);
        int unit = 0;
        for (int i0 = begin; i0 < end; i0 += THREADS * UNROLL) {
            uint4 buf[UNROLL];
            // Beyond the end the last vector is read again, which changes nothing.
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                buf[u] = load_stream(p + min(i0 + u * THREADS + tid, last));
            }
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                const uint32_t next = O::merge(best, O::top(buf[u]));
                if (next != best) {
                    best = next;
                    held = buf[u];
                    unit = i0 + u * THREADS + tid;
                }
            }
        }
        unit = min(unit, last);
        b = O::value(best);
        index = static_cast<uint32_t>(unit * O::W + locate<T, 0>(held, b));
    } else {
        b = __uint_as_float(0xff800000u);
        index = 0u;
#pragma unroll 4
        for (int i = begin + tid; i < end; i += THREADS) {
            const float v = Ops<T>::load(row + i);
            if (v > b || (v != v && b == b)) {
                b = v;
                index = static_cast<uint32_t>(i);
            }
        }
    }
    return warp_best(order_key(b), index);
}

// Warp 0 combines the slots, lane 0 writes the result.
template <int SLOTS>
__device__ __forceinline__ void finish(const uint2* slots, int64_t* out) {
    const int lane = static_cast<int>(threadIdx.x);
    uint32_t key = 0u;
    uint32_t index = 0xffffffffu;
#pragma unroll
    for (int s0 = 0; s0 < SLOTS; s0 += 32) {
        const int s = s0 + lane;
        if (s < SLOTS) {
            const uint2 c = slots[s];
            if (c.x > key || (c.x == key && c.y < index)) {
                key = c.x;
                index = c.y;
            }
        }
    }
    const uint2 r = warp_best(key, index);
    if (lane == 0) *out = static_cast<int64_t>(r.y);
}

template <typename T, int THREADS, int UNROLL, int CL, bool VECTOR>
__global__ void __launch_bounds__(THREADS, 1024 / THREADS)
forward_kernel(const T* __restrict__ x, int64_t* __restrict__ out, int D, int units, int per) {
    constexpr int WARPS = THREADS / 32;
    __shared__ uint2 slots[CL * WARPS];
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int warp = static_cast<int>(threadIdx.x) >> 5;

    if constexpr (CL == 1) {
        const int64_t r = static_cast<int64_t>(blockIdx.x);
        const uint2 mine = scan<T, THREADS, UNROLL, VECTOR>(x + r * D, 0, units);
        if (lane == 0) slots[warp] = mine;
        __syncthreads();
        if (warp == 0) finish<WARPS>(slots, out + r);
    } else {
        cg::cluster_group cl = cg::this_cluster();
        // All blocks of the cluster must have started before their shared memory is written: arrive now, wait later.
        auto token = cl.barrier_arrive();
        const int64_t r = static_cast<int64_t>(blockIdx.x / CL);
        const int rank = static_cast<int>(blockIdx.x % CL);
        const int begin = rank * per;
        const int end = min(units, begin + per);
        const uint2 mine = scan<T, THREADS, UNROLL, VECTOR>(x + r * D, begin, end);
        cl.barrier_wait(std::move(token));
        if (lane == 0) {
            uint2* target = cl.map_shared_rank(&slots[0], 0);
            target[rank * WARPS + warp] = mine;
        }
        cl.sync();
        if (rank == 0 && warp == 0) finish<CL * WARPS>(slots, out + r);
    }
}

template <typename T, int THREADS, int UNROLL, int CL, bool VECTOR>
void launch(const T* x, int64_t* out, int64_t N, int64_t D) {
    const int units = static_cast<int>(VECTOR ? D / Ops<T>::W : D);
    // Pieces of a row start at multiples of 8 units, 128 bytes where vectors are used.
    const int per = ((units + CL - 1) / CL + 7) / 8 * 8;
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    if constexpr (CL == 1) {
        forward_kernel<T, THREADS, UNROLL, CL, VECTOR>
            <<<static_cast<unsigned>(N), THREADS, 0, stream>>>(x, out, static_cast<int>(D), units, per);
    } else {
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(static_cast<unsigned>(N * CL), 1, 1);
        config.blockDim = dim3(THREADS, 1, 1);
        config.dynamicSmemBytes = 0;
        config.stream = stream;
        cudaLaunchAttribute attribute[1];
        attribute[0].id = cudaLaunchAttributeClusterDimension;
        attribute[0].val.clusterDim.x = CL;
        attribute[0].val.clusterDim.y = 1;
        attribute[0].val.clusterDim.z = 1;
        config.attrs = attribute;
        config.numAttrs = 1;
        const cudaError_t status = cudaLaunchKernelEx(&config, forward_kernel<T, THREADS, UNROLL, CL, VECTOR>, x, out,
                                                      static_cast<int>(D), units, per);
        TORCH_CHECK(status == cudaSuccess, "argmax: launch failed");
    }
}

template <typename T, bool VECTOR>
void choose(const T* x, int64_t* out, int64_t N, int64_t D) {
    const int64_t row_bytes = D * static_cast<int64_t>(sizeof(T));
    if (row_bytes >= 16384 && N <= 16) {
        launch<T, FEW_THREADS, FEW_UNROLL, FEW_CLUSTER, VECTOR>(x, out, N, D);
    } else if (row_bytes >= 16384 && N <= 264) {
        launch<T, SPLIT_THREADS, SPLIT_UNROLL, SPLIT_CLUSTER, VECTOR>(x, out, N, D);
    } else {
        launch<T, ROW_THREADS, ROW_UNROLL, 1, VECTOR>(x, out, N, D);
    }
}

template <typename T>
void dispatch(const torch::Tensor& x, torch::Tensor& indices, int64_t N, int64_t D) {
    const T* in = static_cast<const T*>(x.data_ptr());
    int64_t* out = indices.data_ptr<int64_t>();
    const bool vector = reinterpret_cast<uintptr_t>(in) % 16 == 0 && D % Ops<T>::W == 0;
    if (vector) {
        choose<T, true>(in, out, N, D);
    } else {
        choose<T, false>(in, out, N, D);
    }
}

torch::Tensor forward(
    torch::Tensor x  // [N, D] T
) {
    TORCH_CHECK(x.dim() == 2 && x.is_contiguous(), "argmax: x must be a contiguous matrix");
    const int64_t N = x.size(0);
    const int64_t D = x.size(1);
    TORCH_CHECK(D >= 1 && D <= (int64_t(1) << 30), "argmax: unsupported row length");
    TORCH_CHECK(N >= 1 && N <= 2147483647, "argmax: unsupported number of rows");
    torch::Tensor indices = torch::empty({N}, x.options().dtype(torch::kInt64));
    if (x.scalar_type() == torch::kFloat32) {
        dispatch<float>(x, indices, N, D);
    } else if (x.scalar_type() == torch::kBFloat16) {
        dispatch<__nv_bfloat16>(x, indices, N, D);
    } else {
        TORCH_CHECK(x.scalar_type() == torch::kFloat16, "argmax: unsupported type");
        dispatch<__half>(x, indices, N, D);
    }
    return indices;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward);
}
