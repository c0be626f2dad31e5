// __half and __half2: layout, conversions and arithmetic for host code.
#ifndef WARPWRIGHT_CUDA_FP16_H
#define WARPWRIGHT_CUDA_FP16_H

#include "cuda_runtime.h"
#include "warpwright/half_bits.h"

struct alignas(2) __half_raw {
  unsigned short x;
};
struct alignas(4) __half2_raw {
  unsigned short x, y;
};

// The flags torch compiles with take away the implicit conversions; constructors from numbers stay.
struct alignas(2) __half {
  unsigned short __x;
  __half() = default;
  constexpr __half(const __half_raw& raw) : __x(raw.x) {}
  template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  __half(T value) : __x(static_cast<unsigned short>(warpwright::HalfBits::narrow(static_cast<float>(value)))) {}
  operator __half_raw() const { return {__x}; }
  operator float() const { return warpwright::HalfBits::widen(__x); }
};
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  __half2(const __half& a, const __half& b) : x(a), y(b) {}
};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

inline __half __float2half(float value) { return __half(value); }
inline __half __float2half_rn(float value) { return __half(value); }
inline __half __double2half(double value) { return __half(static_cast<float>(value)); }
inline __half __int2half_rn(int value) { return __half(static_cast<float>(value)); }
inline float __half2float(__half value) { return value; }
inline int __half2int_rn(__half value) { return __float2int_rn(value); }
inline unsigned short __half_as_ushort(__half value) { return value.__x; }
inline short __half_as_short(__half value) { return static_cast<short>(value.__x); }
inline __half __ushort_as_half(unsigned short bits) { return __half_raw{bits}; }
inline __half __short_as_half(short bits) { return __half_raw{static_cast<unsigned short>(bits)}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
inline float2 __half22float2(__half2 a) { return {a.x, a.y}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline float __low2float(__half2 a) { return a.x; }
inline float __high2float(__half2 a) { return a.y; }
inline __half __hadd(__half a, __half b) { return float(a) + float(b); }
inline __half __hsub(__half a, __half b) { return float(a) - float(b); }
inline __half __hmul(__half a, __half b) { return float(a) * float(b); }
inline __half __hdiv(__half a, __half b) { return float(a) / float(b); }
inline __half __hneg(__half a) { return -float(a); }
inline __half __hfma(__half a, __half b, __half c) { return std::fma(float(a), float(b), float(c)); }
inline __half __hmax(__half a, __half b) { return float(a) < float(b) ? b : a; }
inline __half __hmin(__half a, __half b) { return float(b) < float(a) ? b : a; }
inline bool __hgt(__half a, __half b) { return float(a) > float(b); }
inline bool __hlt(__half a, __half b) { return float(a) < float(b); }
inline bool __hge(__half a, __half b) { return float(a) >= float(b); }
inline bool __hle(__half a, __half b) { return float(a) <= float(b); }
inline bool __heq(__half a, __half b) { return float(a) == float(b); }
inline bool __hisnan(__half a) { return float(a) != float(a); }
inline __half hexp(__half a) { return std::exp(float(a)); }
inline __half hlog(__half a) { return std::log(float(a)); }
inline __half hsqrt(__half a) { return std::sqrt(float(a)); }
inline __half hrsqrt(__half a) { return rsqrtf(a); }
inline __half2 __hadd2(__half2 a, __half2 b) { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
inline __half2 __hsub2(__half2 a, __half2 b) { return {__hsub(a.x, b.x), __hsub(a.y, b.y)}; }
inline __half2 __hmul2(__half2 a, __half2 b) { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
inline __half2 __hmax2(__half2 a, __half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }

#endif
