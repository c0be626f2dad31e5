// Eight-bit floats with device meaning: conversions round to nearest and, unless told otherwise, stay finite.
#ifndef WARPWRIGHT_CUDA_FP8_H
#define WARPWRIGHT_CUDA_FP8_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t saturation,
                                                __nv_fp8_interpretation_t kind) {
  const float most = kind == __NV_E4M3 ? 448.0f : 57344.0f;
  if (saturation == __NV_SATFINITE && value == value) value = value > most ? most : value < -most ? -most : value;
  return static_cast<__nv_fp8_storage_t>(kind == __NV_E4M3 ? WARPWRIGHT_SMALL_CODEC(E4M3Bits)::narrow(value)
                                                           : WARPWRIGHT_SMALL_CODEC(E5M2Bits)::narrow(value));
}
inline float warpwright_fp8_to_float(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? WARPWRIGHT_SMALL_CODEC(E4M3Bits)::widen(bits) : WARPWRIGHT_SMALL_CODEC(E5M2Bits)::widen(bits);
}
inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return __nv_cvt_float_to_fp8(static_cast<float>(v), s, k);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_float_to_fp8(v.x, s, k) | __nv_cvt_float_to_fp8(v.y, s, k) << 8);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return __nv_cvt_float_to_fp8(__half(v), s, k);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw v, __nv_saturation_t s,
                                                      __nv_fp8_interpretation_t k) {
  return __nv_cvt_float_to_fp8(__nv_bfloat16(v), s, k);
}
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t k) {
  return __half(warpwright_fp8_to_float(bits, k));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t bits, __nv_fp8_interpretation_t k) {
  return {__nv_cvt_fp8_to_halfraw(bits & 255, k).x, __nv_cvt_fp8_to_halfraw(bits >> 8, k).x};
}

#define WARPWRIGHT_FP8(NAME, KIND)                                                                                     \
  struct alignas(1) __nv_fp8_##NAME {                                                                                  \
    __nv_fp8_storage_t __x;                                                                                            \
    __nv_fp8_##NAME() = default;                                                                                       \
    template <class T, std::enable_if_t<std::is_convertible<T, float>::value, int> = 0>                                \
    explicit __nv_fp8_##NAME(T value) : __x(__nv_cvt_float_to_fp8(static_cast<float>(value), __NV_SATFINITE, KIND)) {} \
    explicit operator float() const { return warpwright_fp8_to_float(__x, KIND); }                                     \
    explicit operator __half() const { return __half(warpwright_fp8_to_float(__x, KIND)); }                            \
    explicit operator __nv_bfloat16() const { return __nv_bfloat16(warpwright_fp8_to_float(__x, KIND)); }              \
  };                                                                                                                   \
  struct alignas(2) __nv_fp8x2_##NAME {                                                                                \
    __nv_fp8x2_storage_t __x;                                                                                          \
    __nv_fp8x2_##NAME() = default;                                                                                     \
    explicit __nv_fp8x2_##NAME(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                   \
    explicit operator float2() const {                                                                                 \
      return {warpwright_fp8_to_float(__x & 255, KIND), warpwright_fp8_to_float(__x >> 8, KIND)};                      \
    }                                                                                                                  \
  };                                                                                                                   \
  struct alignas(4) __nv_fp8x4_##NAME {                                                                                \
    __nv_fp8x4_storage_t __x;                                                                                          \
    __nv_fp8x4_##NAME() = default;                                                                                     \
    explicit __nv_fp8x4_##NAME(float4 v)                                                                               \
        : __x(__nv_cvt_float2_to_fp8x2({v.x, v.y}, __NV_SATFINITE, KIND) |                                             \
              static_cast<unsigned>(__nv_cvt_float2_to_fp8x2({v.z, v.w}, __NV_SATFINITE, KIND)) << 16) {}              \
    explicit operator float4() const {                                                                                 \
      return {warpwright_fp8_to_float(__x & 255, KIND), warpwright_fp8_to_float(__x >> 8 & 255, KIND),                 \
              warpwright_fp8_to_float(__x >> 16 & 255, KIND), warpwright_fp8_to_float(__x >> 24, KIND)};               \
    }                                                                                                                  \
  };
WARPWRIGHT_FP8(e4m3, __NV_E4M3)
WARPWRIGHT_FP8(e5m2, __NV_E5M2)
#undef WARPWRIGHT_FP8

#endif
