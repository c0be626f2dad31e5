// Arithmetic of device code: fast versions, rounding modes, integer operations and reinterpretation.
//
// The fast functions are computed with the accuracy of the C library; their errors on a GPU are not modelled.
#ifndef WARPWRIGHT_EMULATED_ARITHMETIC_H
#define WARPWRIGHT_EMULATED_ARITHMETIC_H

// The C++ versions of these bring isnan, abs and kin into the global namespace, with all their overloads.
#include <math.h>
#include <stdlib.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "vector_types.h"

template <class A, class B>
using WarpwrightCommon =
    std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value, std::common_type_t<A, B>>;
template <class A, class B>
constexpr WarpwrightCommon<A, B> min(A a, B b) {
  using C = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point<C>::value)
    return std::fmin(static_cast<C>(a), static_cast<C>(b));
  else
    return static_cast<C>(b) < static_cast<C>(a) ? static_cast<C>(b) : static_cast<C>(a);
}
template <class A, class B>
constexpr WarpwrightCommon<A, B> max(A a, B b) {
  using C = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point<C>::value)
    return std::fmax(static_cast<C>(a), static_cast<C>(b));
  else
    return static_cast<C>(a) < static_cast<C>(b) ? static_cast<C>(b) : static_cast<C>(a);
}
inline int umin(unsigned a, unsigned b) { return b < a ? b : a; }
inline int umax(unsigned a, unsigned b) { return a < b ? b : a; }

#define WARPWRIGHT_UNARY(NAME, T, RESULT) \
  inline T NAME(T x) { return RESULT; }
#define WARPWRIGHT_BINARY(NAME, T, RESULT) \
  inline T NAME(T x, T y) { return RESULT; }

WARPWRIGHT_UNARY(rsqrtf, float, 1.0f / std::sqrt(x))
WARPWRIGHT_UNARY(rsqrt, double, 1.0 / std::sqrt(x))
WARPWRIGHT_UNARY(rsqrt, float, 1.0f / std::sqrt(x))
WARPWRIGHT_UNARY(rcbrtf, float, 1.0f / std::cbrt(x))
WARPWRIGHT_UNARY(exp10f, float, static_cast<float>(std::pow(10.0, x)))
WARPWRIGHT_UNARY(sinpif, float, static_cast<float>(std::sin(M_PI* std::fmod(x, 2.0))))
WARPWRIGHT_UNARY(cospif, float, static_cast<float>(std::cos(M_PI* std::fmod(x, 2.0))))
WARPWRIGHT_UNARY(normcdff, float, 0.5f * std::erfc(-x * 0.70710678118654752f))
WARPWRIGHT_UNARY(normcdf, double, 0.5 * std::erfc(-x * 0.70710678118654752))
WARPWRIGHT_UNARY(erfcxf, float, static_cast<float>(std::exp(double(x) * x) * std::erfc(double(x))))
WARPWRIGHT_BINARY(fdividef, float, x / y)
WARPWRIGHT_UNARY(__expf, float, std::exp(x))
WARPWRIGHT_UNARY(__exp10f, float, exp10f(x))
WARPWRIGHT_UNARY(__logf, float, std::log(x))
WARPWRIGHT_UNARY(__log2f, float, std::log2(x))
WARPWRIGHT_UNARY(__log10f, float, std::log10(x))
WARPWRIGHT_UNARY(__sinf, float, std::sin(x))
WARPWRIGHT_UNARY(__cosf, float, std::cos(x))
WARPWRIGHT_UNARY(__tanf, float, std::tan(x))
WARPWRIGHT_UNARY(__tanhf, float, std::tanh(x))
WARPWRIGHT_BINARY(__powf, float, std::pow(x, y))
WARPWRIGHT_BINARY(__fdividef, float, x / y)
WARPWRIGHT_UNARY(__saturatef, float, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
WARPWRIGHT_UNARY(__frsqrt_rn, float, static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))))
inline void __sincosf(float x, float* s, float* c) { *s = std::sin(x), *c = std::cos(x); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline float rnorm3df(float a, float b, float c) { return 1.0f / std::sqrt(a * a + b * b + c * c); }
inline float norm3df(float a, float b, float c) { return std::sqrt(a * a + b * b + c * c); }

namespace warpwright::emulated {

// A result under another rounding mode: a helper that the optimiser cannot see through, between two changes of the
// mode.
template <class F>
__attribute__((noinline)) auto rounded(int mode, F compute) {
  const int before = std::fegetround();
  std::fesetround(mode);
  auto result = compute();
  __asm__ volatile("" : "+m"(result));
  std::fesetround(before);
  return result;
}
template <class T>
__attribute__((noinline)) T opaque(T value) {
  __asm__ volatile("" : "+m"(value));
  return value;
}

}  // namespace warpwright::emulated

#define WARPWRIGHT_DIRECTED(NAME, T, PARAMETERS, RESULT)                         \
  inline T NAME##_rn PARAMETERS { return RESULT; }                               \
  inline T NAME##_rz PARAMETERS {                                                \
    return warpwright::emulated::rounded(FE_TOWARDZERO, [&] { return RESULT; }); \
  }                                                                              \
  inline T NAME##_ru PARAMETERS {                                                \
    return warpwright::emulated::rounded(FE_UPWARD, [&] { return RESULT; });     \
  }                                                                              \
  inline T NAME##_rd PARAMETERS {                                                \
    return warpwright::emulated::rounded(FE_DOWNWARD, [&] { return RESULT; });   \
  }
#define WARPWRIGHT_OPAQUE warpwright::emulated::opaque
WARPWRIGHT_DIRECTED(__fadd, float, (float x, float y), WARPWRIGHT_OPAQUE(x) + y)
WARPWRIGHT_DIRECTED(__fsub, float, (float x, float y), WARPWRIGHT_OPAQUE(x) - y)
WARPWRIGHT_DIRECTED(__fmul, float, (float x, float y), WARPWRIGHT_OPAQUE(x) * y)
WARPWRIGHT_DIRECTED(__fdiv, float, (float x, float y), WARPWRIGHT_OPAQUE(x) / y)
WARPWRIGHT_DIRECTED(__fmaf, float, (float x, float y, float z), std::fma(WARPWRIGHT_OPAQUE(x), y, z))
WARPWRIGHT_DIRECTED(__frcp, float, (float x), 1.0f / WARPWRIGHT_OPAQUE(x))
WARPWRIGHT_DIRECTED(__fsqrt, float, (float x), std::sqrt(WARPWRIGHT_OPAQUE(x)))
WARPWRIGHT_DIRECTED(__dadd, double, (double x, double y), WARPWRIGHT_OPAQUE(x) + y)
WARPWRIGHT_DIRECTED(__dsub, double, (double x, double y), WARPWRIGHT_OPAQUE(x) - y)
WARPWRIGHT_DIRECTED(__dmul, double, (double x, double y), WARPWRIGHT_OPAQUE(x) * y)
WARPWRIGHT_DIRECTED(__ddiv, double, (double x, double y), WARPWRIGHT_OPAQUE(x) / y)
WARPWRIGHT_DIRECTED(__fma, double, (double x, double y, double z), std::fma(WARPWRIGHT_OPAQUE(x), y, z))
WARPWRIGHT_DIRECTED(__dsqrt, double, (double x), std::sqrt(WARPWRIGHT_OPAQUE(x)))
WARPWRIGHT_DIRECTED(__drcp, double, (double x), 1.0 / WARPWRIGHT_OPAQUE(x))
WARPWRIGHT_DIRECTED(__double2float, float, (double x), static_cast<float>(WARPWRIGHT_OPAQUE(x)))
WARPWRIGHT_DIRECTED(__int2float, float, (int x), static_cast<float>(WARPWRIGHT_OPAQUE(x)))
WARPWRIGHT_DIRECTED(__uint2float, float, (unsigned x), static_cast<float>(WARPWRIGHT_OPAQUE(x)))
WARPWRIGHT_DIRECTED(__ll2float, float, (long long x), static_cast<float>(WARPWRIGHT_OPAQUE(x)))
WARPWRIGHT_DIRECTED(__ull2float, float, (unsigned long long x), static_cast<float>(WARPWRIGHT_OPAQUE(x)))
#undef WARPWRIGHT_OPAQUE
#undef WARPWRIGHT_DIRECTED
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }

namespace warpwright::emulated {
// A GPU saturates values out of range, and converts NaN to zero.
template <class I, class F>
I clamped(F x) {
  if (!(x == x)) return 0;
  constexpr F low = static_cast<F>(std::is_signed<I>::value ? I(I(1) << (8 * sizeof(I) - 1)) : I(0));
  const F beyond = std::ldexp(F(1), 8 * sizeof(I) - (std::is_signed<I>::value ? 1 : 0));
  const I top = std::is_signed<I>::value ? static_cast<I>(~(I(1) << (8 * sizeof(I) - 1))) : static_cast<I>(~I(0));
  return x <= low ? static_cast<I>(low) : x >= beyond ? top : static_cast<I>(x);
}
}  // namespace warpwright::emulated

#define WARPWRIGHT_TO_WHOLE(NAME, I, F)                                                   \
  inline I NAME##_rn(F x) { return warpwright::emulated::clamped<I>(std::nearbyint(x)); } \
  inline I NAME##_rz(F x) { return warpwright::emulated::clamped<I>(std::trunc(x)); }     \
  inline I NAME##_ru(F x) { return warpwright::emulated::clamped<I>(std::ceil(x)); }      \
  inline I NAME##_rd(F x) { return warpwright::emulated::clamped<I>(std::floor(x)); }
WARPWRIGHT_TO_WHOLE(__float2int, int, float)
WARPWRIGHT_TO_WHOLE(__float2uint, unsigned, float)
WARPWRIGHT_TO_WHOLE(__float2ll, long long, float)
WARPWRIGHT_TO_WHOLE(__float2ull, unsigned long long, float)
WARPWRIGHT_TO_WHOLE(__double2int, int, double)
WARPWRIGHT_TO_WHOLE(__double2uint, unsigned, double)
WARPWRIGHT_TO_WHOLE(__double2ll, long long, double)
#undef WARPWRIGHT_TO_WHOLE

#define WARPWRIGHT_REINTERPRET(NAME, TO, FROM) \
  inline TO NAME(FROM from) {                  \
    TO to;                                     \
    std::memcpy(&to, &from, sizeof to);        \
    return to;                                 \
  }
WARPWRIGHT_REINTERPRET(__float_as_int, int, float)
WARPWRIGHT_REINTERPRET(__float_as_uint, unsigned, float)
WARPWRIGHT_REINTERPRET(__int_as_float, float, int)
WARPWRIGHT_REINTERPRET(__uint_as_float, float, unsigned)
WARPWRIGHT_REINTERPRET(__double_as_longlong, long long, double)
WARPWRIGHT_REINTERPRET(__longlong_as_double, double, long long)
#undef WARPWRIGHT_REINTERPRET
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(
      static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low)));
}

inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline int __fns(unsigned mask, unsigned base, int offset) {
  int step = offset < 0 ? -1 : 1, left = offset < 0 ? -offset : offset;
  if (left == 0) return mask >> base & 1 ? static_cast<int>(base) : -1;
  for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step)
    if (mask >> i & 1 && --left == 0) return i;
  return -1;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t both = static_cast<uint64_t>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned pick = selector >> 4 * i & 15u, byte = static_cast<unsigned>(both >> 8 * (pick & 7u)) & 255u;
    result |= (pick & 8u ? (byte & 128u ? 255u : 0u) : byte) << 8 * i;
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31u) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31u));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) << (shift < 32u ? shift : 32u) >> 32);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift < 32u ? shift : 32u));
}
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<int64_t>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32); }
inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline int __mul24(int x, int y) {
  return static_cast<int>(static_cast<unsigned>((x << 8 >> 8)) * static_cast<unsigned>((y << 8 >> 8)));
}
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
inline int __hadd(int x, int y) { return static_cast<int>((static_cast<int64_t>(x) + y) >> 1); }
inline int __rhadd(int x, int y) { return static_cast<int>((static_cast<int64_t>(x) + y + 1) >> 1); }
inline unsigned __uhadd(unsigned x, unsigned y) { return static_cast<unsigned>((static_cast<uint64_t>(x) + y) >> 1); }
inline unsigned __sad(int x, int y, unsigned z) {
  return z + static_cast<unsigned>(x < y ? static_cast<int64_t>(y) - x : static_cast<int64_t>(x) - y);
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x < y ? y - x : x - y); }

namespace warpwright::emulated {
template <class A, class B, class R>
R dot4(unsigned a, unsigned b, R sum) {
  for (int i = 0; i < 4; ++i)
    sum += static_cast<R>(static_cast<A>(a >> 8 * i)) * static_cast<R>(static_cast<B>(b >> 8 * i));
  return sum;
}
template <class A, class B, class R>
R dot2(unsigned a, unsigned b, int half, R sum) {
  for (int i = 0; i < 2; ++i)
    sum += static_cast<R>(static_cast<A>(a >> 16 * i)) * static_cast<R>(static_cast<B>(b >> 8 * (i + half)));
  return sum;
}
}  // namespace warpwright::emulated
inline int __dp4a(int a, int b, int c) { return warpwright::emulated::dot4<int8_t, int8_t, int>(a, b, c); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return warpwright::emulated::dot4<uint8_t, uint8_t, unsigned>(a, b, c);
}
inline int __dp4a(char4 a, char4 b, int c) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c; }
inline int __dp2a_lo(int a, int b, int c) { return warpwright::emulated::dot2<int16_t, int8_t, int>(a, b, 0, c); }
inline int __dp2a_hi(int a, int b, int c) { return warpwright::emulated::dot2<int16_t, int8_t, int>(a, b, 2, c); }

#define WARPWRIGHT_BYTES4(NAME, T, RESULT)                                \
  inline unsigned NAME(unsigned a, unsigned b) {                          \
    unsigned result = 0;                                                  \
    for (int i = 0; i < 4; ++i) {                                         \
      int x = static_cast<T>(a >> 8 * i), y = static_cast<T>(b >> 8 * i); \
      result |= (static_cast<unsigned>(RESULT) & 255u) << 8 * i;          \
    }                                                                     \
    return result;                                                        \
  }
WARPWRIGHT_BYTES4(__vadd4, uint8_t, x + y)
WARPWRIGHT_BYTES4(__vsub4, uint8_t, x - y)
WARPWRIGHT_BYTES4(__vmaxs4, int8_t, x < y ? y : x)
WARPWRIGHT_BYTES4(__vmins4, int8_t, y < x ? y : x)
WARPWRIGHT_BYTES4(__vmaxu4, uint8_t, x < y ? y : x)
WARPWRIGHT_BYTES4(__vminu4, uint8_t, y < x ? y : x)
WARPWRIGHT_BYTES4(__vcmpeq4, uint8_t, x == y ? 255 : 0)
WARPWRIGHT_BYTES4(__vavgu4, uint8_t, (x + y + 1) >> 1)
WARPWRIGHT_BYTES4(__vabsdiffu4, uint8_t, x < y ? y - x : x - y)
#undef WARPWRIGHT_BYTES4
#undef WARPWRIGHT_UNARY
#undef WARPWRIGHT_BINARY

#endif
