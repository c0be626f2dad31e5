// Declarations of device functions for a host compiler, so that __host__ __device__ functions parse; never executed.
#ifndef WARPWRIGHT_DEVICE_WORDS_H
#define WARPWRIGHT_DEVICE_WORDS_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "vector_types.h"

namespace warpwright {
[[noreturn]] void unsupported(const char* name);
}

extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
constexpr int warpSize = 32;

#define WARPWRIGHT_DEVICE_ONLY(NAME) ::warpwright::unsupported("device word " #NAME " in host code")

#define WARPWRIGHT_WORD(NAME)     \
  template <class... A>           \
  inline void NAME(const A&...) { \
    WARPWRIGHT_DEVICE_ONLY(NAME); \
  }
WARPWRIGHT_WORD(__syncthreads)
WARPWRIGHT_WORD(__syncwarp)
WARPWRIGHT_WORD(__threadfence)
WARPWRIGHT_WORD(__threadfence_block)
WARPWRIGHT_WORD(__threadfence_system)
WARPWRIGHT_WORD(__nanosleep)
WARPWRIGHT_WORD(__trap)
#undef WARPWRIGHT_WORD

#define WARPWRIGHT_WORD(NAME)     \
  template <class... A>           \
  inline int NAME(const A&...) {  \
    WARPWRIGHT_DEVICE_ONLY(NAME); \
  }
WARPWRIGHT_WORD(__syncthreads_count)
WARPWRIGHT_WORD(__syncthreads_and)
WARPWRIGHT_WORD(__syncthreads_or)
WARPWRIGHT_WORD(__any_sync)
WARPWRIGHT_WORD(__all_sync)
WARPWRIGHT_WORD(__ballot_sync)
WARPWRIGHT_WORD(__activemask)
WARPWRIGHT_WORD(__match_any_sync)
#undef WARPWRIGHT_WORD

#define WARPWRIGHT_WORD(NAME)               \
  template <class T, class... A>            \
  inline T NAME(unsigned, T, const A&...) { \
    WARPWRIGHT_DEVICE_ONLY(NAME);           \
  }
WARPWRIGHT_WORD(__shfl_sync)
WARPWRIGHT_WORD(__shfl_down_sync)
WARPWRIGHT_WORD(__shfl_up_sync)
WARPWRIGHT_WORD(__shfl_xor_sync)
WARPWRIGHT_WORD(__reduce_add_sync)
WARPWRIGHT_WORD(__reduce_max_sync)
WARPWRIGHT_WORD(__reduce_min_sync)
#undef WARPWRIGHT_WORD

#define WARPWRIGHT_WORD(NAME)      \
  template <class T, class... A>   \
  inline T NAME(T*, const A&...) { \
    WARPWRIGHT_DEVICE_ONLY(NAME);  \
  }
WARPWRIGHT_WORD(atomicAdd)
WARPWRIGHT_WORD(atomicSub)
WARPWRIGHT_WORD(atomicMax)
WARPWRIGHT_WORD(atomicMin)
WARPWRIGHT_WORD(atomicExch)
WARPWRIGHT_WORD(atomicCAS)
WARPWRIGHT_WORD(atomicAnd)
WARPWRIGHT_WORD(atomicOr)
WARPWRIGHT_WORD(atomicXor)
WARPWRIGHT_WORD(atomicInc)
#undef WARPWRIGHT_WORD

#define WARPWRIGHT_WORD(NAME)       \
  template <class T>                \
  inline T NAME(const T* address) { \
    WARPWRIGHT_DEVICE_ONLY(NAME);   \
  }
WARPWRIGHT_WORD(__ldg)
WARPWRIGHT_WORD(__ldcg)
WARPWRIGHT_WORD(__ldca)
WARPWRIGHT_WORD(__ldcs)
#undef WARPWRIGHT_WORD

// Arithmetic that CUDA's headers also give to host code.
template <class A, class B>
using WarpwrightCommon =
    std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value, std::common_type_t<A, B>>;
template <class A, class B>
constexpr WarpwrightCommon<A, B> min(A a, B b) {
  using C = std::common_type_t<A, B>;
  return static_cast<C>(b) < static_cast<C>(a) ? static_cast<C>(b) : static_cast<C>(a);
}
template <class A, class B>
constexpr WarpwrightCommon<A, B> max(A a, B b) {
  using C = std::common_type_t<A, B>;
  return static_cast<C>(a) < static_cast<C>(b) ? static_cast<C>(b) : static_cast<C>(a);
}
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyint(x)); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline int __float_as_int(float x) {
  int i;
  __builtin_memcpy(&i, &x, 4);
  return i;
}
inline unsigned __float_as_uint(float x) {
  unsigned i;
  __builtin_memcpy(&i, &x, 4);
  return i;
}
inline float __int_as_float(int i) {
  float x;
  __builtin_memcpy(&x, &i, 4);
  return x;
}
inline float __uint_as_float(unsigned i) {
  float x;
  __builtin_memcpy(&x, &i, 4);
  return x;
}
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __mul24(int x, int y) { return x * y; }

#endif
