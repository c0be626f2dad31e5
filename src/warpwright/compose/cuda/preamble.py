"""Device functions that the kernels share; a source gets only those it uses."""

from __future__ import annotations

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.code.statements import Launch, Wait

PACKS = verbatim(
    """\
// VEC neighbouring elements, moved together.
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
// What is stored once and read by nobody soon makes room in the cache first.
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
// A size that positions of 31 bits are divided by: a product and a shift take its place.
struct Divisor {
    unsigned size, factor, shift = 0;
    Divisor(int64_t value) : size(std::max<int64_t>(value, 1)) {
        while ((uint64_t{1} << shift) < size) ++shift;
        factor = (((uint64_t{1} << shift) - size) << 32) / size + 1;
    }
    __device__ operator int() const { return size; }
};

__device__ int operator/(int position, const Divisor& by) {
    return (__umulhi(position, by.factor) + position) >> by.shift;
}

__device__ int operator%(int position, const Divisor& by) { return position - position / by * int(by); }

__device__ int64_t operator/(int64_t position, const Divisor& by) { return position / int(by); }

__device__ int64_t operator%(int64_t position, const Divisor& by) { return position % int(by); }

// What positions of a type are divided by.
template <typename Index>
using By = std::conditional_t<sizeof(Index) == 4, Divisor, Index>;""",
    headers=("algorithm", "type_traits"),
)

QUICK = verbatim(
    """\
// The hardware's own exponential where T is rounded more coarsely than it errs.
template <typename T>
__device__ float quick_exp(float x) {
    if constexpr (sizeof(T) == 2) return __expf(x);
    return expf(x);
}"""
)
QUICK_SIGMOID = verbatim(
    """\
// What is divided by is never small, so that the hardware's own reciprocal will do.
template <typename T>
__device__ float sigmoid(float x) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + (sizeof(T) == 2 ? __expf(-x) : expf(-x))));
    return inverse;
}"""
)

WORDS = verbatim(
    """\
// A pack that is not looked into yet, and so takes no more registers than it has words.
template <typename T, int VEC>
using Words = std::conditional_t<VEC * sizeof(T) % 4 == 0, Pack<unsigned, (VEC * sizeof(T) + 3) / 4>, Pack<T, VEC>>;

template <int VEC, typename T>
__device__ Words<T, VEC> load_words(const T* from) {
    return *reinterpret_cast<const Words<T, VEC>*>(from);
}

template <typename T, int VEC>
__device__ Pack<T, VEC> opened(const Words<T, VEC>& words) {
    return *reinterpret_cast<const Pack<T, VEC>*>(&words);
}""",
    headers=("type_traits",),
)

REOPENED = verbatim(
    """\
// The same for what is looked into in every pass. The compiler is kept from remembering what it has found inside, since
// a bfloat16 takes a whole register then.
template <typename T, int VEC>
__device__ Pack<T, VEC> reopened(Words<T, VEC> words) {
    if constexpr (std::is_same_v<T, at::BFloat16> && VEC > 1)
        for (unsigned& word : words.at) asm volatile("" : "+r"(word));
    return opened<T, VEC>(words);
}""",
    headers=("type_traits",),
)

ALIGNED = verbatim(
    """\
// Whether packs of 16 bytes may be read from all of these.
bool aligned(std::initializer_list<const void*> pointers) {
    for (const void* pointer : pointers)
        if (reinterpret_cast<uintptr_t>(pointer) % 16 != 0) return false;
    return true;
}""",
    headers=("initializer_list",),
)


EXPECT = verbatim(
    """\
// Brings into the cache what will be read when others have been waited for.
__device__ void expect(const void* from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }"""
)

ADD_PARTS = verbatim(
    """\
// Adds up what the warps of a block have summed for the same columns.
template <int VEC, int WARPS, typename Out>
__device__ void add_warps(const float (&sum)[VEC], Out* to, int64_t column, int64_t columns) {
    if constexpr (WARPS == 1) {
        Pack<Out, VEC> pack;
        for (int k = 0; k < VEC; ++k) pack.at[k] = sum[k];
        if (column < columns) store<VEC>(to + column, pack);
        return;
    }
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
// A pack of them, two by two. What is beyond their range becomes the last number within it.
template <int VEC>
__device__ Pack<__nv_fp8_e4m3, VEC> saturated_e4m3(const float (&from)[VEC]) {
    Pack<__nv_fp8_e4m3, VEC> pack;
    if constexpr (VEC == 1) {
        pack.at[0] = __nv_fp8_e4m3(from[0]);
    } else {
        #pragma unroll
        for (int k = 0; k < VEC; k += 2) {
            const float2 two = make_float2(from[k], from[k + 1]);
            const __nv_fp8x2_storage_t both = __nv_cvt_float2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3);
            pack.at[k].__x = static_cast<__nv_fp8_storage_t>(both);
            pack.at[k + 1].__x = static_cast<__nv_fp8_storage_t>(both >> 8);
        }
    }
    return pack;
}""",
    headers=("cuda_fp8.h",),
)

TO_E4M3 = verbatim(
    """\
// NaN beyond the range, as in torch: the hardware's own conversion would stay finite.
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
// Waits for what the kernel before this one leaves. From here on the next one may be launched, and wait as well.
__device__ void await_results() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Launches a kernel while the one before it still runs. GPUs before Hopper take one after the other.
template <typename... Parameters, typename... Arguments>
void launch_next(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, const Arguments&... arguments) {
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
