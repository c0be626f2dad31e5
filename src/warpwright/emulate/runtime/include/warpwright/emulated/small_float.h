// Arithmetic of the sixteen-bit floats: computed wide and rounded once, for single values and for pairs.
#ifndef WARPWRIGHT_EMULATED_SMALL_FLOAT_H
#define WARPWRIGHT_EMULATED_SMALL_FLOAT_H

#include <warpwright/half_bits.h>

#include "cuda_runtime.h"

// Lifted programs have other codecs, whose rounding is the identity.
#ifndef WARPWRIGHT_SMALL_CODEC
#define WARPWRIGHT_SMALL_CODEC(BITS) warpwright::emulated::RoundedOnce<warpwright::BITS>

namespace warpwright::emulated {
// A double holds every product and nearly every sum of small floats exactly; then float would round first.
template <class BITS>
struct RoundedOnce : BITS {
  using BITS::narrow;
  static uint32_t narrow(double value) {
    float near = static_cast<float>(value);
    // Round to odd, so that the second rounding sees that the first one lost something.
    if (static_cast<double>(near) != value && near == near && !(bits_as<uint32_t>(near) & 1u)) {
      const bool away = std::fabs(static_cast<double>(near)) > std::fabs(value);
      near = bits_as<float>(bits_as<uint32_t>(near) + (away ? -1u : 1u));
    }
    return BITS::narrow(near);
  }
};
}  // namespace warpwright::emulated
#endif

#define WARPWRIGHT_SMALL_STRUCT(H, H2, BITS)                                                              \
  struct alignas(2) H##_raw {                                                                             \
    unsigned short x;                                                                                     \
  };                                                                                                      \
  struct alignas(4) H2##_raw {                                                                            \
    unsigned short x, y;                                                                                  \
  };                                                                                                      \
  struct alignas(2) H {                                                                                   \
    unsigned short __x;                                                                                   \
    H() = default;                                                                                        \
    constexpr H(const H##_raw& raw) : __x(raw.x) {}                                                       \
    template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>                           \
    H(T value) : H(static_cast<float>(value)) {}                                                          \
    H(float value) : __x(static_cast<unsigned short>(WARPWRIGHT_SMALL_CODEC(BITS)::narrow(value))) {}     \
    H(double value) : __x(static_cast<unsigned short>(WARPWRIGHT_SMALL_CODEC(BITS)::narrow(value))) {}    \
    operator H##_raw() const { return {__x}; }                                                            \
    operator float() const { return WARPWRIGHT_SMALL_CODEC(BITS)::widen(__x); }                           \
    H& operator=(const H##_raw& raw) { return __x = raw.x, *this; }                                       \
  };                                                                                                      \
  struct alignas(4) H2 {                                                                                  \
    H x, y;                                                                                               \
    H2() = default;                                                                                       \
    H2(const H& a, const H& b) : x(a), y(b) {}                                                            \
    H2(const H2##_raw& raw) : x(H##_raw{raw.x}), y(H##_raw{raw.y}) {}                                     \
    operator H2##_raw() const { return {x.__x, y.__x}; }                                                  \
  };

#define WARPWRIGHT_SMALL_BINARY(H, H2, NAME, RESULT) \
  inline H NAME(H a, H b) {                          \
    const float p = a, q = b;                        \
    return H(RESULT);                                \
  }                                                  \
  inline H2 NAME##2(H2 a, H2 b) { return {NAME(a.x, b.x), NAME(a.y, b.y)}; }
#define WARPWRIGHT_SMALL_COMPARE(H, H2, NAME, OP)                                        \
  inline bool __h##NAME(H a, H b) { return float(a) OP float(b); }                       \
  inline H2 __h##NAME##2(H2 a, H2 b) {                                                   \
    return {H(__h##NAME(a.x, b.x) ? 1.0f : 0.0f), H(__h##NAME(a.y, b.y) ? 1.0f : 0.0f)}; \
  }                                                                                      \
  inline bool __hb##NAME##2(H2 a, H2 b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }
#define WARPWRIGHT_SMALL_UNARY(H, H2, NAME, RESULT) \
  inline H h##NAME(H a) {                           \
    const float p = a;                              \
    return H(RESULT);                               \
  }                                                 \
  inline H2 h2##NAME(H2 a) { return {h##NAME(a.x), h##NAME(a.y)}; }

#define WARPWRIGHT_SMALL_OPERATORS(H, H2)                                          \
  inline H operator+(const H& a, const H& b) { return __hadd(a, b); }              \
  inline H operator-(const H& a, const H& b) { return __hsub(a, b); }              \
  inline H operator*(const H& a, const H& b) { return __hmul(a, b); }              \
  inline H operator/(const H& a, const H& b) { return __hdiv(a, b); }              \
  inline H operator-(const H& a) { return __hneg(a); }                             \
  inline H operator+(const H& a) { return a; }                                     \
  inline H& operator+=(H& a, const H& b) { return a = a + b; }                     \
  inline H& operator-=(H& a, const H& b) { return a = a - b; }                     \
  inline H& operator*=(H& a, const H& b) { return a = a * b; }                     \
  inline H& operator/=(H& a, const H& b) { return a = a / b; }                     \
  inline bool operator==(const H& a, const H& b) { return float(a) == float(b); }  \
  inline bool operator!=(const H& a, const H& b) { return float(a) != float(b); }  \
  inline bool operator<(const H& a, const H& b) { return float(a) < float(b); }    \
  inline bool operator>(const H& a, const H& b) { return float(a) > float(b); }    \
  inline bool operator<=(const H& a, const H& b) { return float(a) <= float(b); }  \
  inline bool operator>=(const H& a, const H& b) { return float(a) >= float(b); }  \
  inline H2 operator+(const H2& a, const H2& b) { return __hadd2(a, b); }          \
  inline H2 operator-(const H2& a, const H2& b) { return __hsub2(a, b); }          \
  inline H2 operator*(const H2& a, const H2& b) { return __hmul2(a, b); }          \
  inline H2 operator/(const H2& a, const H2& b) { return {a.x / b.x, a.y / b.y}; } \
  inline H2& operator+=(H2& a, const H2& b) { return a = a + b; }                  \
  inline H2& operator-=(H2& a, const H2& b) { return a = a - b; }                  \
  inline H2& operator*=(H2& a, const H2& b) { return a = a * b; }

#define WARPWRIGHT_SMALL_FUNCTIONS(H, H2, BITS)                                                                  \
  WARPWRIGHT_SMALL_BINARY(H, H2, __hadd, p + q)                                                                  \
  WARPWRIGHT_SMALL_BINARY(H, H2, __hsub, p - q)                                                                  \
  WARPWRIGHT_SMALL_BINARY(H, H2, __hmul, p* q)                                                                   \
  WARPWRIGHT_SMALL_BINARY(H, H2, __hadd_rn, p + q)                                                               \
  WARPWRIGHT_SMALL_BINARY(H, H2, __hsub_rn, p - q)                                                               \
  WARPWRIGHT_SMALL_BINARY(H, H2, __hmul_rn, p* q)                                                                \
  WARPWRIGHT_SMALL_BINARY(H, H2, __hmax, std::fmax(p, q))                                                        \
  WARPWRIGHT_SMALL_BINARY(H, H2, __hmin, std::fmin(p, q))                                                        \
  WARPWRIGHT_SMALL_BINARY(H, H2, __hadd_sat, __saturatef(p + q))                                                 \
  WARPWRIGHT_SMALL_BINARY(H, H2, __hmul_sat, __saturatef(p* q))                                                  \
  inline H __hmax_nan(H a, H b) { return float(a) == float(a) && float(b) == float(b) ? __hmax(a, b) : H(NAN); } \
  inline H __hmin_nan(H a, H b) { return float(a) == float(a) && float(b) == float(b) ? __hmin(a, b) : H(NAN); } \
  inline H __hdiv(H a, H b) { return H(static_cast<double>(float(a)) / static_cast<double>(float(b))); }         \
  inline H2 __h2div(H2 a, H2 b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }                                 \
  inline H __hfma(H a, H b, H c) {                                                                               \
    return H(static_cast<double>(float(a)) * static_cast<double>(float(b)) + static_cast<double>(float(c)));     \
  }                                                                                                              \
  inline H2 __hfma2(H2 a, H2 b, H2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }                 \
  inline H __hfma_relu(H a, H b, H c) { return __hmax(__hfma(a, b, c), H(0.0f)); }                               \
  inline H __hneg(H a) { return H##_raw{static_cast<unsigned short>(a.__x ^ 0x8000u)}; }                         \
  inline H __habs(H a) { return H##_raw{static_cast<unsigned short>(a.__x & 0x7fffu)}; }                         \
  inline H2 __hneg2(H2 a) { return {__hneg(a.x), __hneg(a.y)}; }                                                 \
  inline H2 __habs2(H2 a) { return {__habs(a.x), __habs(a.y)}; }                                                 \
  WARPWRIGHT_SMALL_COMPARE(H, H2, eq, ==)                                                                        \
  WARPWRIGHT_SMALL_COMPARE(H, H2, ne, !=)                                                                        \
  WARPWRIGHT_SMALL_COMPARE(H, H2, lt, <)                                                                         \
  WARPWRIGHT_SMALL_COMPARE(H, H2, le, <=)                                                                        \
  WARPWRIGHT_SMALL_COMPARE(H, H2, gt, >)                                                                         \
  WARPWRIGHT_SMALL_COMPARE(H, H2, ge, >=)                                                                        \
  inline bool __hisnan(H a) { return float(a) != float(a); }                                                     \
  inline int __hisinf(H a) { return std::isinf(float(a)) ? (float(a) < 0 ? -1 : 1) : 0; }                        \
  WARPWRIGHT_SMALL_UNARY(H, H2, exp, std::exp(p))                                                                \
  WARPWRIGHT_SMALL_UNARY(H, H2, exp2, std::exp2(p))                                                              \
  WARPWRIGHT_SMALL_UNARY(H, H2, log, std::log(p))                                                                \
  WARPWRIGHT_SMALL_UNARY(H, H2, log2, std::log2(p))                                                              \
  WARPWRIGHT_SMALL_UNARY(H, H2, sin, std::sin(p))                                                                \
  WARPWRIGHT_SMALL_UNARY(H, H2, cos, std::cos(p))                                                                \
  WARPWRIGHT_SMALL_UNARY(H, H2, sqrt, std::sqrt(p))                                                              \
  WARPWRIGHT_SMALL_UNARY(H, H2, rsqrt, rsqrtf(p))                                                                \
  WARPWRIGHT_SMALL_UNARY(H, H2, rcp, 1.0f / p)                                                                   \
  WARPWRIGHT_SMALL_UNARY(H, H2, floor, std::floor(p))                                                            \
  WARPWRIGHT_SMALL_UNARY(H, H2, ceil, std::ceil(p))                                                              \
  WARPWRIGHT_SMALL_UNARY(H, H2, rint, std::nearbyint(p))                                                         \
  WARPWRIGHT_SMALL_UNARY(H, H2, trunc, std::trunc(p))                                                            \
  WARPWRIGHT_SMALL_UNARY(H, H2, tanh, std::tanh(p))                                                              \
  WARPWRIGHT_SMALL_OPERATORS(H, H2)

// Names that carry the type's own name: conversions and packing.
#define WARPWRIGHT_SMALL_CONVERSIONS(H, H2, NAME)                                               \
  inline H __float2##NAME(float a) { return H(a); }                                             \
  inline H __float2##NAME##_rn(float a) { return H(a); }                                        \
  inline H __double2##NAME(double a) { return H(a); }                                           \
  inline H __int2##NAME##_rn(int a) { return H(static_cast<double>(a)); }                       \
  inline H __uint2##NAME##_rn(unsigned a) { return H(static_cast<double>(a)); }                 \
  inline H __short2##NAME##_rn(short a) { return H(static_cast<float>(a)); }                    \
  inline H __ushort2##NAME##_rn(unsigned short a) { return H(static_cast<float>(a)); }          \
  inline float __##NAME##2float(H a) { return a; }                                              \
  inline int __##NAME##2int_rn(H a) { return __float2int_rn(a); }                               \
  inline int __##NAME##2int_rz(H a) { return __float2int_rz(a); }                               \
  inline int __##NAME##2int_rd(H a) { return __float2int_rd(a); }                               \
  inline int __##NAME##2int_ru(H a) { return __float2int_ru(a); }                               \
  inline short __##NAME##2short_rn(H a) { return static_cast<short>(__float2int_rn(a)); }       \
  inline unsigned short __##NAME##_as_ushort(H a) { return a.__x; }                             \
  inline short __##NAME##_as_short(H a) { return static_cast<short>(a.__x); }                   \
  inline H __ushort_as_##NAME(unsigned short bits) { return H##_raw{bits}; }                    \
  inline H __short_as_##NAME(short bits) { return H##_raw{static_cast<unsigned short>(bits)}; } \
  inline H2 __halves2##NAME##2(H a, H b) { return {a, b}; }                                     \
  inline H2 make_##NAME##2(H a, H b) { return {a, b}; }                                         \
  inline H2 __##NAME##2##NAME##2(H a) { return {a, a}; }                                        \
  inline H2 __float2##NAME##2_rn(float a) { return {H(a), H(a)}; }                              \
  inline H2 __floats2##NAME##2_rn(float a, float b) { return {H(a), H(b)}; }                    \
  inline H2 __float22##NAME##2_rn(float2 a) { return {H(a.x), H(a.y)}; }                        \
  inline float2 __##NAME##22float2(H2 a) { return {a.x, a.y}; }                                 \
  inline H __low2##NAME(H2 a) { return a.x; }                                                   \
  inline H __high2##NAME(H2 a) { return a.y; }                                                  \
  inline H2 __low2##NAME##2(H2 a) { return {a.x, a.x}; }                                        \
  inline H2 __high2##NAME##2(H2 a) { return {a.y, a.y}; }                                       \
  inline float __low2float(H2 a) { return a.x; }                                                \
  inline float __high2float(H2 a) { return a.y; }                                               \
  inline H2 __lowhigh2highlow(H2 a) { return {a.y, a.x}; }                                      \
  inline H2 __lows2##NAME##2(H2 a, H2 b) { return {a.x, b.x}; }                                 \
  inline H2 __highs2##NAME##2(H2 a, H2 b) { return {a.y, b.y}; }

#endif
