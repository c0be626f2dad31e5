// The mathematical functions of device code for Real, which stands for float in lifted programs.
#ifndef WARPWRIGHT_EMULATED_LIFTED_FUNCTIONS_H
#define WARPWRIGHT_EMULATED_LIFTED_FUNCTIONS_H

#include "warpwright/emulated/lifted.h"

// A namespace of its own: programs may have functions of the same names, and calls with Real look into Real's.
namespace warpwright::lifted::functions {

enum : int { EXP, LOG, SQRT, TANH, ERF, SIN, COS, TAN, ASIN, ACOS, ATAN, LGAMMA, FLOOR, CEIL, ROUND, TRUNC, NEAREST, ABS };
enum : int { POWER = 4, MODULO, ATAN2, LARGER, SMALLER };

inline Real unary_of(int operation, Real x) { return of_bits(unary(operation, x.bits)); }
inline Real binary_of(int operation, Real a, Real b) { return of_bits(binary(operation, a.bits, b.bits)); }
inline bool is_nan(Real x) { return std::isnan(value_of(x.bits)); }

// fmaxf() passes over NaN, other than the comparison below it.
inline Real larger(Real a, Real b) { return is_nan(a) ? b : is_nan(b) ? a : binary_of(LARGER, a, b); }
inline Real smaller(Real a, Real b) { return is_nan(a) ? b : is_nan(b) ? a : binary_of(SMALLER, a, b); }
inline Real exponential(Real x) { return unary_of(EXP, x); }
inline Real logarithm(Real x) { return unary_of(LOG, x); }
inline Real root(Real x) { return unary_of(SQRT, x); }
inline Real ln2() { return Real(0.69314718055994531); }
inline Real ln10() { return Real(2.30258509299404568); }

}  // namespace warpwright::lifted::functions

#define WARPWRIGHT_REAL ::warpwright::lifted::Real
#define WARPWRIGHT_LIFTED1(NAME, RESULT) \
  inline WARPWRIGHT_REAL NAME(WARPWRIGHT_REAL x) { return RESULT; }
#define WARPWRIGHT_LIFTED2(NAME, RESULT)                                                            \
  inline WARPWRIGHT_REAL NAME(WARPWRIGHT_REAL x, WARPWRIGHT_REAL y) { return RESULT; }              \
  template <class T, ::warpwright::lifted::IfNumber<T> = 0>                                         \
  WARPWRIGHT_REAL NAME(WARPWRIGHT_REAL x, T y) { return NAME(x, WARPWRIGHT_REAL(y)); }              \
  template <class T, ::warpwright::lifted::IfNumber<T> = 0>                                         \
  WARPWRIGHT_REAL NAME(T x, WARPWRIGHT_REAL y) { return NAME(WARPWRIGHT_REAL(x), y); }
// A function with its forms: plain, for floats, and those given.
#define WARPWRIGHT_LIFTED_BOTH(NAME, RESULT) WARPWRIGHT_LIFTED1(NAME, RESULT) WARPWRIGHT_LIFTED1(NAME##f, RESULT)
#define WARPWRIGHT_UNARY_OF(CODE) ::warpwright::lifted::functions::unary_of(::warpwright::lifted::functions::CODE, x)
#define WARPWRIGHT_EXP(X) ::warpwright::lifted::functions::exponential(X)
#define WARPWRIGHT_LOG(X) ::warpwright::lifted::functions::logarithm(X)
#define WARPWRIGHT_ROOT(X) ::warpwright::lifted::functions::root(X)

#define WARPWRIGHT_LIFTED_COMMON                                                         \
  WARPWRIGHT_LIFTED_BOTH(exp, WARPWRIGHT_EXP(x))                                         \
  WARPWRIGHT_LIFTED_BOTH(exp2, WARPWRIGHT_EXP(x * ::warpwright::lifted::functions::ln2()))          \
  WARPWRIGHT_LIFTED_BOTH(expm1, WARPWRIGHT_EXP(x) - 1)                                   \
  WARPWRIGHT_LIFTED_BOTH(log, WARPWRIGHT_LOG(x))                                         \
  WARPWRIGHT_LIFTED_BOTH(log2, WARPWRIGHT_LOG(x) / ::warpwright::lifted::functions::ln2())          \
  WARPWRIGHT_LIFTED_BOTH(log10, WARPWRIGHT_LOG(x) / ::warpwright::lifted::functions::ln10())        \
  WARPWRIGHT_LIFTED_BOTH(log1p, WARPWRIGHT_LOG(x + 1))                                   \
  WARPWRIGHT_LIFTED_BOTH(sqrt, WARPWRIGHT_ROOT(x))                                       \
  WARPWRIGHT_LIFTED_BOTH(tanh, WARPWRIGHT_UNARY_OF(TANH))                                \
  WARPWRIGHT_LIFTED_BOTH(sinh, (WARPWRIGHT_EXP(x) - WARPWRIGHT_EXP(-x)) / 2)             \
  WARPWRIGHT_LIFTED_BOTH(cosh, (WARPWRIGHT_EXP(x) + WARPWRIGHT_EXP(-x)) / 2)             \
  WARPWRIGHT_LIFTED_BOTH(erf, WARPWRIGHT_UNARY_OF(ERF))                                  \
  WARPWRIGHT_LIFTED_BOTH(erfc, 1 - WARPWRIGHT_UNARY_OF(ERF))                             \
  WARPWRIGHT_LIFTED_BOTH(sin, WARPWRIGHT_UNARY_OF(SIN))                                  \
  WARPWRIGHT_LIFTED_BOTH(cos, WARPWRIGHT_UNARY_OF(COS))                                  \
  WARPWRIGHT_LIFTED_BOTH(tan, WARPWRIGHT_UNARY_OF(TAN))                                  \
  WARPWRIGHT_LIFTED_BOTH(asin, WARPWRIGHT_UNARY_OF(ASIN))                                \
  WARPWRIGHT_LIFTED_BOTH(acos, WARPWRIGHT_UNARY_OF(ACOS))                                \
  WARPWRIGHT_LIFTED_BOTH(atan, WARPWRIGHT_UNARY_OF(ATAN))                                \
  WARPWRIGHT_LIFTED_BOTH(lgamma, WARPWRIGHT_UNARY_OF(LGAMMA))                            \
  WARPWRIGHT_LIFTED_BOTH(floor, WARPWRIGHT_UNARY_OF(FLOOR))                              \
  WARPWRIGHT_LIFTED_BOTH(ceil, WARPWRIGHT_UNARY_OF(CEIL))                                \
  WARPWRIGHT_LIFTED_BOTH(round, WARPWRIGHT_UNARY_OF(ROUND))                              \
  WARPWRIGHT_LIFTED_BOTH(trunc, WARPWRIGHT_UNARY_OF(TRUNC))                              \
  WARPWRIGHT_LIFTED_BOTH(rint, WARPWRIGHT_UNARY_OF(NEAREST))                             \
  WARPWRIGHT_LIFTED_BOTH(nearbyint, WARPWRIGHT_UNARY_OF(NEAREST))                        \
  WARPWRIGHT_LIFTED_BOTH(fabs, WARPWRIGHT_UNARY_OF(ABS))                                 \
  WARPWRIGHT_LIFTED1(abs, WARPWRIGHT_UNARY_OF(ABS))                                      \
  WARPWRIGHT_LIFTED2(fmax, ::warpwright::lifted::functions::larger(x, y))                           \
  WARPWRIGHT_LIFTED2(fmaxf, ::warpwright::lifted::functions::larger(x, y))                          \
  WARPWRIGHT_LIFTED2(fmin, ::warpwright::lifted::functions::smaller(x, y))                          \
  WARPWRIGHT_LIFTED2(fminf, ::warpwright::lifted::functions::smaller(x, y))                         \
  WARPWRIGHT_LIFTED2(pow, ::warpwright::lifted::functions::binary_of(::warpwright::lifted::functions::POWER, x, y))    \
  WARPWRIGHT_LIFTED2(powf, ::warpwright::lifted::functions::binary_of(::warpwright::lifted::functions::POWER, x, y))   \
  WARPWRIGHT_LIFTED2(fmod, ::warpwright::lifted::functions::binary_of(::warpwright::lifted::functions::MODULO, x, y))  \
  WARPWRIGHT_LIFTED2(fmodf, ::warpwright::lifted::functions::binary_of(::warpwright::lifted::functions::MODULO, x, y)) \
  WARPWRIGHT_LIFTED2(atan2, ::warpwright::lifted::functions::binary_of(::warpwright::lifted::functions::ATAN2, x, y))  \
  WARPWRIGHT_LIFTED2(atan2f, ::warpwright::lifted::functions::binary_of(::warpwright::lifted::functions::ATAN2, x, y)) \
  WARPWRIGHT_LIFTED2(copysignf, ::warpwright::lifted::of_bits((x.bits & 0x7fffffffu) | (y.bits & 0x80000000u))) \
  WARPWRIGHT_LIFTED2(copysign, copysignf(x, y))                                          \
  inline WARPWRIGHT_REAL fma(WARPWRIGHT_REAL x, WARPWRIGHT_REAL y, WARPWRIGHT_REAL z) { return x * y + z; }  \
  inline WARPWRIGHT_REAL fmaf(WARPWRIGHT_REAL x, WARPWRIGHT_REAL y, WARPWRIGHT_REAL z) { return x * y + z; } \
  inline bool isnan(WARPWRIGHT_REAL x) { return std::isnan(::warpwright::lifted::value_of(x.bits)); }        \
  inline bool isinf(WARPWRIGHT_REAL x) { return std::isinf(::warpwright::lifted::value_of(x.bits)); }        \
  inline bool isfinite(WARPWRIGHT_REAL x) { return std::isfinite(::warpwright::lifted::value_of(x.bits)); }  \
  inline bool signbit(WARPWRIGHT_REAL x) { return x.bits >> 31; }

WARPWRIGHT_LIFTED_COMMON
namespace std {
WARPWRIGHT_LIFTED_COMMON
}

WARPWRIGHT_LIFTED2(max, ::warpwright::lifted::functions::larger(x, y))
WARPWRIGHT_LIFTED2(min, ::warpwright::lifted::functions::smaller(x, y))
WARPWRIGHT_LIFTED1(__expf, WARPWRIGHT_EXP(x))
WARPWRIGHT_LIFTED1(exp10f, WARPWRIGHT_EXP(x * ::warpwright::lifted::functions::ln10()))
WARPWRIGHT_LIFTED1(__exp10f, exp10f(x))
WARPWRIGHT_LIFTED1(__logf, WARPWRIGHT_LOG(x))
WARPWRIGHT_LIFTED1(__log2f, log2f(x))
WARPWRIGHT_LIFTED1(__log10f, log10f(x))
WARPWRIGHT_LIFTED1(__sinf, sinf(x))
WARPWRIGHT_LIFTED1(__cosf, cosf(x))
WARPWRIGHT_LIFTED1(__tanf, tanf(x))
WARPWRIGHT_LIFTED1(__tanhf, tanhf(x))
WARPWRIGHT_LIFTED1(rsqrt, 1 / WARPWRIGHT_ROOT(x))
WARPWRIGHT_LIFTED1(rsqrtf, 1 / WARPWRIGHT_ROOT(x))
WARPWRIGHT_LIFTED1(__frsqrt_rn, 1 / WARPWRIGHT_ROOT(x))
WARPWRIGHT_LIFTED1(__frcp_rn, 1 / x)
WARPWRIGHT_LIFTED1(__fsqrt_rn, WARPWRIGHT_ROOT(x))
WARPWRIGHT_LIFTED1(__saturatef, max(min(x, 1), 0))
WARPWRIGHT_LIFTED1(normcdff, (1 + erff(x / WARPWRIGHT_ROOT(WARPWRIGHT_REAL(2)))) / 2)
WARPWRIGHT_LIFTED2(__powf, powf(x, y))
WARPWRIGHT_LIFTED2(fdividef, x / y)
WARPWRIGHT_LIFTED2(__fdividef, x / y)
WARPWRIGHT_LIFTED2(__fadd_rn, x + y)
WARPWRIGHT_LIFTED2(__fsub_rn, x - y)
WARPWRIGHT_LIFTED2(__fmul_rn, x * y)
WARPWRIGHT_LIFTED2(__fdiv_rn, x / y)
WARPWRIGHT_LIFTED2(fdimf, max(x - y, 0))
WARPWRIGHT_LIFTED2(hypotf, WARPWRIGHT_ROOT(x * x + y * y))
inline WARPWRIGHT_REAL __fmaf_rn(WARPWRIGHT_REAL x, WARPWRIGHT_REAL y, WARPWRIGHT_REAL z) { return x * y + z; }
inline int __float_as_int(WARPWRIGHT_REAL x) { return static_cast<int>(x.bits); }
inline unsigned __float_as_uint(WARPWRIGHT_REAL x) { return x.bits; }
inline int __float2int_rn(WARPWRIGHT_REAL x) { return static_cast<int>(rintf(x)); }
inline int __float2int_rz(WARPWRIGHT_REAL x) { return static_cast<int>(x); }
inline int __float2int_rd(WARPWRIGHT_REAL x) { return static_cast<int>(floorf(x)); }
inline int __float2int_ru(WARPWRIGHT_REAL x) { return static_cast<int>(ceilf(x)); }
inline void sincosf(WARPWRIGHT_REAL x, WARPWRIGHT_REAL* s, WARPWRIGHT_REAL* c) { *s = sinf(x), *c = cosf(x); }
inline void __sincosf(WARPWRIGHT_REAL x, WARPWRIGHT_REAL* s, WARPWRIGHT_REAL* c) { *s = sinf(x), *c = cosf(x); }

#endif
