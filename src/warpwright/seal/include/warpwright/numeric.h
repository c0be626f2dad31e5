// at::_isnan, c10::cuda::compat and gpuAtomicAdd: small functions that kernels call from torch's headers.
#ifndef WARPWRIGHT_NUMERIC_H
#define WARPWRIGHT_NUMERIC_H

#include "warpwright/scalar_type.h"

namespace at {

template <class T>
inline __host__ __device__ bool _isnan(T value) {
  if constexpr (std::is_integral<T>::value) return false;
  else return static_cast<float>(value) != static_cast<float>(value);
}
inline __host__ __device__ bool _isnan(double value) { return value != value; }
template <class T>
inline __host__ __device__ bool _isinf(T value) {
  if constexpr (std::is_integral<T>::value) return false;
  else return !_isnan(value) && _isnan(static_cast<float>(value) - static_cast<float>(value));
}

// The bounds include the infinities of the types that have them.
template <class T>
struct numeric_limits {
  using Standard = std::numeric_limits<T>;
  static constexpr __host__ __device__ T lowest() { return Standard::lowest(); }
  static constexpr __host__ __device__ T max() { return Standard::max(); }
  static __host__ __device__ T lower_bound() {
    if constexpr (std::is_integral<T>::value) return lowest();
    else return -Standard::infinity();
  }
  static constexpr __host__ __device__ T upper_bound() {
    if constexpr (std::is_integral<T>::value) return max();
    else return Standard::infinity();
  }
};

}  // namespace at

#ifdef __CUDA_ARCH__
#define WARPWRIGHT_COMPAT(NAME)                                  \
  inline __device__ float NAME(float x) { return ::NAME##f(x); } \
  inline __device__ double NAME(double x) { return ::NAME(x); }
#define WARPWRIGHT_COMPAT2(NAME)                                             \
  inline __device__ float NAME(float x, float y) { return ::NAME##f(x, y); } \
  inline __device__ double NAME(double x, double y) { return ::NAME(x, y); }
#else
#define WARPWRIGHT_COMPAT(NAME)                                           \
  inline __host__ __device__ float NAME(float x) { return std::NAME(x); } \
  inline __host__ __device__ double NAME(double x) { return std::NAME(x); }
#define WARPWRIGHT_COMPAT2(NAME)                                                      \
  inline __host__ __device__ float NAME(float x, float y) { return std::NAME(x, y); } \
  inline __host__ __device__ double NAME(double x, double y) { return std::NAME(x, y); }
#endif

namespace c10::cuda::compat {

WARPWRIGHT_COMPAT(ceil)
WARPWRIGHT_COMPAT(floor)
WARPWRIGHT_COMPAT(exp)
WARPWRIGHT_COMPAT(log)
WARPWRIGHT_COMPAT(log1p)
WARPWRIGHT_COMPAT(sqrt)
WARPWRIGHT_COMPAT(tanh)
WARPWRIGHT_COMPAT(tan)
WARPWRIGHT_COMPAT(sin)
WARPWRIGHT_COMPAT(cos)
WARPWRIGHT_COMPAT(erf)
WARPWRIGHT_COMPAT2(pow)
WARPWRIGHT_COMPAT2(copysign)
inline __host__ __device__ float abs(float x) { return ::fabsf(x); }
inline __host__ __device__ double abs(double x) { return ::fabs(x); }
inline __host__ __device__ float max(float x, float y) { return ::fmaxf(x, y); }
inline __host__ __device__ double max(double x, double y) { return ::fmax(x, y); }
inline __host__ __device__ float min(float x, float y) { return ::fminf(x, y); }
inline __host__ __device__ double min(double x, double y) { return ::fmin(x, y); }
inline __host__ __device__ float div(float x, float y) { return x / y; }
inline __host__ __device__ double div(double x, double y) { return x / y; }
#ifdef __CUDA_ARCH__
WARPWRIGHT_COMPAT(rsqrt)
#endif

}  // namespace c10::cuda::compat

#undef WARPWRIGHT_COMPAT
#undef WARPWRIGHT_COMPAT2

#if defined(__CUDA_ARCH__) && !defined(WARPWRIGHT_NO_HALF)
inline __device__ at::Half gpuAtomicAdd(at::Half* address, at::Half value) {
  return atomicAdd(reinterpret_cast<__half*>(address), static_cast<__half>(value));
}
inline __device__ at::BFloat16 gpuAtomicAdd(at::BFloat16* address, at::BFloat16 value) {
  return atomicAdd(reinterpret_cast<__nv_bfloat16*>(address), static_cast<__nv_bfloat16>(value));
}
inline __device__ at::Half atomicAdd(at::Half* address, at::Half value) { return gpuAtomicAdd(address, value); }
inline __device__ at::BFloat16 atomicAdd(at::BFloat16* address, at::BFloat16 value) {
  return gpuAtomicAdd(address, value);
}
#endif
#ifdef __CUDACC__
inline __device__ int64_t gpuAtomicAdd(int64_t* address, int64_t value) {
  return static_cast<int64_t>(
      atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
}
template <class T>
inline __device__ std::enable_if_t<std::is_arithmetic<T>::value, T> gpuAtomicAdd(T* address, T value) {
  return atomicAdd(address, value);
}
template <class T>
inline __device__ void gpuAtomicAddNoReturn(T* address, T value) {
  gpuAtomicAdd(address, value);
}
namespace at::native {
template <class T, class I>
inline __device__ void fastAtomicAdd(T* tensor, I index, const I, T value, bool) {
  gpuAtomicAdd(tensor + index, value);
}
}  // namespace at::native

template <class T>
inline __device__ T WARP_SHFL(T value, int lane, int width = 32, unsigned mask = 0xffffffff) {
  return __shfl_sync(mask, value, lane, width);
}
template <class T>
inline __device__ T WARP_SHFL_DOWN(T value, unsigned delta, int width = 32, unsigned mask = 0xffffffff) {
  return __shfl_down_sync(mask, value, delta, width);
}
template <class T>
inline __device__ T WARP_SHFL_UP(T value, unsigned delta, int width = 32, unsigned mask = 0xffffffff) {
  return __shfl_up_sync(mask, value, delta, width);
}
template <class T>
inline __device__ T WARP_SHFL_XOR(T value, int lanes, int width = 32, unsigned mask = 0xffffffff) {
  return __shfl_xor_sync(mask, value, lanes, width);
}
#endif

#endif
