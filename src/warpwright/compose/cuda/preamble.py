"""Device functions that the kernels share; a source gets only those it uses."""

from __future__ import annotations

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.code.statements import Launch, Wait

PACKS = verbatim(
    """\
// VEC consecutive elements, moved by one vector load or store.
template <typename T, int VEC>
struct alignas(sizeof(T) * VEC < 16 ? sizeof(T) * VEC : 16) Pack {
    T at[VEC];
};

template <int VEC, typename T>
__device__ Pack<T, VEC> load(const T* from) {
    return *reinterpret_cast<const Pack<T, VEC>*>(from);
}"""
)

STORE = verbatim(
    """\
template <int VEC, typename T>
__device__ void store(T* to, const Pack<T, VEC>& pack) {
    *reinterpret_cast<Pack<T, VEC>*>(to) = pack;
}"""
)

STREAMING = verbatim(
    """\
// Streaming store: evicted from the cache first, since nothing reads this output soon.
template <int VEC, typename T, typename Word = uint4>
__device__ void store(T* to, const Pack<T, VEC>& pack) {
    if constexpr (sizeof(pack) == sizeof(Word)) {
        __stcs(reinterpret_cast<Word*>(to), *reinterpret_cast<const Word*>(&pack));
    } else {
        *reinterpret_cast<Pack<T, VEC>*>(to) = pack;
    }
}"""
)

DIVISOR = verbatim(
    """\
// Division of 31-bit indices by a runtime constant, as a multiply-high and a shift.
struct FastDivisor {
    unsigned size, factor, shift = 0;
    FastDivisor(int64_t value) : size(std::max<int64_t>(value, 1)) {
        while ((uint64_t{1} << shift) < size) ++shift;
        factor = (((uint64_t{1} << shift) - size) << 32) / size + 1;
    }
    __device__ operator int() const { return size; }
};

__device__ int operator/(int position, const FastDivisor& by) {
    return (__umulhi(position, by.factor) + position) >> by.shift;
}

__device__ int operator%(int position, const FastDivisor& by) { return position - position / by * int(by); }

__device__ int64_t operator/(int64_t position, const FastDivisor& by) { return position / int(by); }

__device__ int64_t operator%(int64_t position, const FastDivisor& by) { return position % int(by); }

// The divisor to use for an index type: 64-bit indices are divided as usual.
template <typename Index>
using DivisorFor = std::conditional_t<sizeof(Index) == 4, FastDivisor, Index>;""",
    headers=("algorithm", "type_traits"),
)

QUICK = verbatim(
    """\
// The hardware's approximate exponential where rounding to T hides its error.
template <typename T>
__device__ float fast_exp(float x) {
    if constexpr (sizeof(T) == 2) return __expf(x);
    return expf(x);
}"""
)
QUICK_SIGMOID = verbatim(
    """\
// The denominator is at least one, where the approximate reciprocal is accurate enough.
template <typename T>
__device__ float sigmoid(float x) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + (sizeof(T) == 2 ? __expf(-x) : expf(-x))));
    return inverse;
}"""
)

WORDS = verbatim(
    """\
// A pack held as 32-bit words: two half-precision elements to a register until it is unpacked.
template <typename T, int VEC>
using Words = std::conditional_t<VEC * sizeof(T) % 4 == 0, Pack<unsigned, (VEC * sizeof(T) + 3) / 4>, Pack<T, VEC>>;

template <int VEC, typename T>
__device__ Words<T, VEC> load_words(const T* from) {
    return *reinterpret_cast<const Words<T, VEC>*>(from);
}

template <typename T, int VEC>
__device__ Pack<T, VEC> unpack(const Words<T, VEC>& words) {
    return *reinterpret_cast<const Pack<T, VEC>*>(&words);
}""",
    headers=("type_traits",),
)

REOPENED = verbatim(
    """\
// Unpacks anew in every pass: the empty asm keeps the compiler from holding converted bfloat16 elements, one to a
// register, across passes.
template <typename T, int VEC>
__device__ Pack<T, VEC> unpack_each_pass(Words<T, VEC> words) {
    if constexpr (std::is_same_v<T, at::BFloat16> && VEC > 1)
        for (unsigned& word : words.at) asm volatile("" : "+r"(word));
    return unpack<T, VEC>(words);
}""",
    headers=("type_traits",),
)

ALIGNED = verbatim(
    """\
// Whether all pointers are aligned to 16 bytes, as vector loads require.
bool aligned(std::initializer_list<const void*> pointers) {
    for (const void* pointer : pointers)
        if (reinterpret_cast<uintptr_t>(pointer) % 16 != 0) return false;
    return true;
}""",
    headers=("initializer_list",),
)


EXPECT = verbatim(
    """\
// Prefetches into L2 while this kernel waits for others.
__device__ void prefetch_l2(const void* from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }"""
)

ADD_PARTS = verbatim(
    """\
// Adds the column sums of all warps of a block.
template <int VEC, int WARPS, typename Out>
__device__ void add_warps(const float (&sum)[VEC], Out* to, int64_t column, int64_t columns) {
    if constexpr (WARPS == 1) {
        Pack<Out, VEC> pack;
        for (int k = 0; k < VEC; ++k) pack.at[k] = sum[k];
        if (column < columns) store<VEC>(to + column, pack);
        return;
    }
    __shared__ float of_warp[WARPS][32 * VEC];
    __syncthreads();  // A previous call may still be reading.
    for (int k = 0; k < VEC; ++k) of_warp[threadIdx.y][k * 32 + threadIdx.x] = sum[k];
    __syncthreads();
    if (threadIdx.y != 0 || column >= columns) return;
    for (int k = 0; k < VEC; ++k) {
        float total = 0.0f;
        for (int warp = 0; warp < WARPS; ++warp) total += of_warp[warp][k * 32 + threadIdx.x];
        to[column + k] = total;
    }
}

// Adds partial column sums in a fixed order, so results are deterministic.
template <typename T>
__global__ void __launch_bounds__(256) add_parts_kernel(
        const float* __restrict__ parts, T* __restrict__ to, int64_t count, int64_t columns) {""",
    Wait(),
    """\
    const int64_t column = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x;
    float sum = 0.0f;
    if (column < columns) {
        #pragma unroll 8
        for (int64_t part = threadIdx.y; part < count; part += 8) sum += parts[part * columns + column];
    }
    __shared__ float of_warp[8][32];
    of_warp[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= columns) return;
    float total = 0.0f;
    for (int warp = 0; warp < 8; ++warp) total += of_warp[warp][threadIdx.x];
    to[column] = total;
}

template <typename T>
void add_parts(const float* parts, T* to, int64_t count, int64_t columns) {
    if (columns == 0) return;
    const auto kernel = add_parts_kernel<T>;
    const dim3 threads(32, 8);""",
    Launch("(columns + 31) / 32", "threads", ("parts", "to", "count", "columns")),
    """\
}""",
    calls=("store",),
)

SATURATED_E4M3 = verbatim(
    """\
// Converts a pack to e4m3 two elements at a time, saturating to the largest finite value.
template <int VEC>
__device__ Pack<__nv_fp8_e4m3, VEC> saturated_e4m3(const float (&from)[VEC]) {
    Pack<__nv_fp8_e4m3, VEC> pack;
    if constexpr (VEC == 1) {
        pack.at[0] = __nv_fp8_e4m3(from[0]);
    } else {
        #pragma unroll
        for (int k = 0; k < VEC; k += 2) {
            const float2 two = make_float2(from[k], from[k + 1]);
            const __nv_fp8x2_storage_t pair = __nv_cvt_float2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3);
            pack.at[k].__x = static_cast<__nv_fp8_storage_t>(pair);
            pack.at[k + 1].__x = static_cast<__nv_fp8_storage_t>(pair >> 8);
        }
    }
    return pack;
}""",
    headers=("cuda_fp8.h",),
)

TO_E4M3 = verbatim(
    """\
// Values out of range become NaN, as in torch; the hardware's conversion would saturate.
__device__ float within_e4m3(float x) { return fabsf(x) > 464.0f ? NAN : x; }
__device__ __nv_fp8_e4m3 to_e4m3(float x) { return __nv_fp8_e4m3(within_e4m3(x)); }

template <int VEC>
__device__ Pack<__nv_fp8_e4m3, VEC> to_e4m3(const float (&from)[VEC]) {
    float within[VEC];
    #pragma unroll
    for (int k = 0; k < VEC; ++k) within[k] = within_e4m3(from[k]);
    return saturated_e4m3(within);
}""",
    headers=("cuda_fp8.h",),
)

WAITING = verbatim(
    """\
// Programmatic dependent launch: waits for the previous kernel's results, then lets the next kernel launch.
__device__ void grid_dependency_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Launches with programmatic dependent launch: the kernel may start while the previous one still runs. GPUs older than
// Hopper run them one after the other.
template <typename... Parameters, typename... Arguments>
void launch_pdl(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, const Arguments&... arguments) {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = at::cuda::getCurrentCUDAStream();
    config.attrs = &early;
    config.numAttrs = at::cuda::getCurrentDeviceProperties()->major >= 9 ? 1 : 0;
    C10_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}""",
    headers=("ATen/cuda/CUDAContext.h", "c10/cuda/CUDAException.h"),
)
