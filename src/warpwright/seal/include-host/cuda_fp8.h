// Eight-bit floats: layout and conversions for host code.
#ifndef WARPWRIGHT_CUDA_FP8_H
#define WARPWRIGHT_CUDA_FP8_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

#define WARPWRIGHT_FP8(NAME, BITS)                                                                                   \
  struct alignas(1) __nv_fp8_##NAME {                                                                                \
    __nv_fp8_storage_t __x;                                                                                          \
    __nv_fp8_##NAME() = default;                                                                                     \
    explicit __nv_fp8_##NAME(float value) : __x(static_cast<__nv_fp8_storage_t>(warpwright::BITS::narrow(value))) {} \
    explicit operator float() const { return warpwright::BITS::widen(__x); }                                         \
  };                                                                                                                 \
  struct alignas(2) __nv_fp8x2_##NAME {                                                                              \
    __nv_fp8x2_storage_t __x;                                                                                        \
  };                                                                                                                 \
  struct alignas(4) __nv_fp8x4_##NAME {                                                                              \
    __nv_fp8x4_storage_t __x;                                                                                        \
  };
WARPWRIGHT_FP8(e4m3, E4M3Bits)
WARPWRIGHT_FP8(e5m2, E5M2Bits)
#undef WARPWRIGHT_FP8

#endif
