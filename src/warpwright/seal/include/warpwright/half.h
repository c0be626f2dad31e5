// c10::Half, c10::BFloat16 and the float8 types: torch's small floats, which convert to and from CUDA's.
#ifndef WARPWRIGHT_HALF_H
#define WARPWRIGHT_HALF_H

#include "warpwright/half_bits.h"
#include "warpwright/standard.h"

#define C10_HOST __host__
#define C10_DEVICE __device__
#define C10_HOST_DEVICE __host__ __device__

// The emulator replaces it, to compute in other numbers.
#ifndef WARPWRIGHT_CODEC
#define WARPWRIGHT_CODEC(BITS) warpwright::BITS
#endif

namespace c10 {

// nvcc needs different instructions on host and device for the same conversion; g++ compiles only for the host.
struct alignas(2) Half {
  unsigned short x;
  struct from_bits_t {};
  static constexpr __host__ __device__ from_bits_t from_bits() { return {}; }

  Half() = default;
  constexpr __host__ __device__ Half(unsigned short bits, from_bits_t) : x(bits) {}
  inline __host__ __device__ Half(float value);
  inline __host__ __device__ operator float() const;
#ifndef WARPWRIGHT_NO_HALF
  __host__ __device__ Half(const __half& value) { x = static_cast<__half_raw>(value).x; }
  __host__ __device__ operator __half() const {
    __half_raw raw;
    raw.x = x;
    return __half(raw);
  }
#endif
};

struct alignas(2) BFloat16 {
  unsigned short x;
  struct from_bits_t {};
  static constexpr __host__ __device__ from_bits_t from_bits() { return {}; }

  BFloat16() = default;
  constexpr __host__ __device__ BFloat16(unsigned short bits, from_bits_t) : x(bits) {}
  inline __host__ __device__ BFloat16(float value);
  inline __host__ __device__ operator float() const;
#ifndef WARPWRIGHT_NO_HALF
  __host__ __device__ BFloat16(const __nv_bfloat16& value) { x = static_cast<__nv_bfloat16_raw>(value).x; }
  explicit __host__ __device__ operator __nv_bfloat16() const {
    __nv_bfloat16_raw raw;
    raw.x = x;
    return __nv_bfloat16(raw);
  }
#endif
};

#if defined(__CUDA_ARCH__) && !defined(WARPWRIGHT_NO_HALF)
__host__ __device__ Half::Half(float value) : x(static_cast<__half_raw>(__float2half(value)).x) {}
__host__ __device__ Half::operator float() const { return __half2float(static_cast<__half>(*this)); }
__host__ __device__ BFloat16::BFloat16(float value) : x(static_cast<__nv_bfloat16_raw>(__float2bfloat16(value)).x) {}
__host__ __device__ BFloat16::operator float() const { return __bfloat162float(static_cast<__nv_bfloat16>(*this)); }
#else
__host__ __device__ Half::Half(float value) : x(static_cast<unsigned short>(WARPWRIGHT_CODEC(HalfBits)::narrow(value))) {}
__host__ __device__ Half::operator float() const { return WARPWRIGHT_CODEC(HalfBits)::widen(x); }
__host__ __device__ BFloat16::BFloat16(float value)
    : x(static_cast<unsigned short>(WARPWRIGHT_CODEC(BFloat16Bits)::narrow(value))) {}
__host__ __device__ BFloat16::operator float() const { return WARPWRIGHT_CODEC(BFloat16Bits)::widen(x); }
#endif

// Arithmetic is float arithmetic rounded back; with a wider partner the wider type wins, as in torch.
#define WARPWRIGHT_SMALL_OPERATOR(T, OP)                                                                          \
  inline __host__ __device__ T operator OP(const T& a, const T& b) {                                              \
    return static_cast<float>(a) OP static_cast<float>(b);                                                        \
  }                                                                                                               \
  inline __host__ __device__ float operator OP(T a, float b) { return static_cast<float>(a) OP b; }               \
  inline __host__ __device__ float operator OP(float a, T b) { return a OP static_cast<float>(b); }               \
  inline __host__ __device__ double operator OP(T a, double b) { return static_cast<double>(a) OP b; }            \
  inline __host__ __device__ double operator OP(double a, T b) { return a OP static_cast<double>(b); }            \
  inline __host__ __device__ T operator OP(T a, int b) { return a OP static_cast<T>(static_cast<float>(b)); }     \
  inline __host__ __device__ T operator OP(int a, T b) { return static_cast<T>(static_cast<float>(a)) OP b; }     \
  inline __host__ __device__ T operator OP(T a, int64_t b) { return a OP static_cast<T>(static_cast<float>(b)); } \
  inline __host__ __device__ T operator OP(int64_t a, T b) { return static_cast<T>(static_cast<float>(a)) OP b; } \
  inline __host__ __device__ T& operator OP## = (T & a, const T& b) { return a = a OP b; }                        \
  inline __host__ __device__ float& operator OP## = (float& a, const T& b) { return a = a OP static_cast<float>(b); }

#define WARPWRIGHT_SMALL_FLOAT(T)                                                       \
  inline __host__ __device__ T operator-(const T& a) { return -static_cast<float>(a); } \
  WARPWRIGHT_SMALL_OPERATOR(T, +)                                                       \
  WARPWRIGHT_SMALL_OPERATOR(T, -) WARPWRIGHT_SMALL_OPERATOR(T, *) WARPWRIGHT_SMALL_OPERATOR(T, /)

WARPWRIGHT_SMALL_FLOAT(Half)
WARPWRIGHT_SMALL_FLOAT(BFloat16)

// Two of one type compare as floats, even where CUDA's own types, to which they convert as well, can be compared. Only
// values of exactly these types are meant: with a float on one side, the comparison of floats is the one to choose.
template <class T>
using OfSmall = std::enable_if_t<std::is_same<T, Half>::value || std::is_same<T, BFloat16>::value, int>;
#define WARPWRIGHT_SMALL_COMPARISON(OP)                                                                              \
  template <class T, OfSmall<T> = 0>    \
  inline __host__ __device__ bool operator OP(const T& a, const T& b) {                                              \
    return static_cast<float>(a) OP static_cast<float>(b);                                                           \
  }
WARPWRIGHT_SMALL_COMPARISON(<)
WARPWRIGHT_SMALL_COMPARISON(<=)
WARPWRIGHT_SMALL_COMPARISON(>)
WARPWRIGHT_SMALL_COMPARISON(>=)
WARPWRIGHT_SMALL_COMPARISON(==)
WARPWRIGHT_SMALL_COMPARISON(!=)
#undef WARPWRIGHT_SMALL_COMPARISON

#define WARPWRIGHT_SMALL_CHOICE(NAME, OP)                                              \
  template <class T, OfSmall<T> = 0>                                                   \
  inline __host__ __device__ float NAME(const T& a, float b) {                         \
    return static_cast<float>(a) OP b ? static_cast<float>(a) : b;                     \
  }                                                                                    \
  template <class T, OfSmall<T> = 0>                                                   \
  inline __host__ __device__ float NAME(float a, const T& b) {                         \
    return NAME(b, a);                                                                 \
  }                                                                                    \
  template <class T, OfSmall<T> = 0>                                                   \
  inline __host__ __device__ float NAME(const T& a, const T& b) {                      \
    return NAME(a, static_cast<float>(b));                                             \
  }
WARPWRIGHT_SMALL_CHOICE(max, >)
WARPWRIGHT_SMALL_CHOICE(min, <)
#undef WARPWRIGHT_SMALL_CHOICE

// The float8 types exist for storage: kernels reinterpret them or widen them.
#define WARPWRIGHT_FLOAT8(NAME, BITS)                                                                   \
  struct alignas(1) NAME {                                                                              \
    uint8_t x;                                                                                          \
    struct from_bits_t {};                                                                              \
    static constexpr __host__ __device__ from_bits_t from_bits() { return {}; }                         \
    NAME() = default;                                                                                   \
    constexpr __host__ __device__ NAME(uint8_t bits, from_bits_t) : x(bits) {}                          \
    __host__ __device__ NAME(float value) : x(static_cast<uint8_t>(WARPWRIGHT_CODEC(BITS)::narrow(value))) {} \
    __host__ __device__ operator float() const { return WARPWRIGHT_CODEC(BITS)::widen(x); }                   \
  };                                                                                                    \
  WARPWRIGHT_SMALL_FLOAT(NAME)

WARPWRIGHT_FLOAT8(Float8_e4m3fn, E4M3Bits)
WARPWRIGHT_FLOAT8(Float8_e5m2, E5M2Bits)

#ifdef __CUDA_ARCH__
inline __device__ Half __ldg(const Half* address) {
  return {::__ldg(reinterpret_cast<const unsigned short*>(address)), Half::from_bits()};
}
inline __device__ BFloat16 __ldg(const BFloat16* address) {
  return {::__ldg(reinterpret_cast<const unsigned short*>(address)), BFloat16::from_bits()};
}
#endif

#undef WARPWRIGHT_FLOAT8
#undef WARPWRIGHT_SMALL_FLOAT
#undef WARPWRIGHT_SMALL_OPERATOR

}  // namespace c10

namespace std {

#define WARPWRIGHT_SMALL_LIMITS(T, DIGITS, MAX_EXPONENT, MIN, LOWEST, MAX, EPSILON, INFINITE, QUIET, DENORM) \
  template <>                                                                                                \
  class numeric_limits<c10::T> {                                                                             \
   public:                                                                                                   \
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;     \
    static constexpr bool has_infinity = (INFINITE) != (QUIET), has_quiet_NaN = true, is_bounded = true;     \
    static constexpr int digits = DIGITS, radix = 2, max_exponent = MAX_EXPONENT;                            \
    static constexpr __host__ __device__ c10::T min() { return {MIN, c10::T::from_bits()}; }                 \
    static constexpr __host__ __device__ c10::T lowest() { return {LOWEST, c10::T::from_bits()}; }           \
    static constexpr __host__ __device__ c10::T max() { return {MAX, c10::T::from_bits()}; }                 \
    static constexpr __host__ __device__ c10::T epsilon() { return {EPSILON, c10::T::from_bits()}; }         \
    static constexpr __host__ __device__ c10::T infinity() { return {INFINITE, c10::T::from_bits()}; }       \
    static constexpr __host__ __device__ c10::T quiet_NaN() { return {QUIET, c10::T::from_bits()}; }         \
    static constexpr __host__ __device__ c10::T denorm_min() { return {DENORM, c10::T::from_bits()}; }       \
  };

WARPWRIGHT_SMALL_LIMITS(Half, 11, 16, 0x0400, 0xFBFF, 0x7BFF, 0x1400, 0x7C00, 0x7E00, 0x0001)
WARPWRIGHT_SMALL_LIMITS(BFloat16, 8, 128, 0x0080, 0xFF7F, 0x7F7F, 0x3C00, 0x7F80, 0x7FC0, 0x0001)
WARPWRIGHT_SMALL_LIMITS(Float8_e4m3fn, 4, 8, 0x08, 0xFE, 0x7E, 0x20, 0x7F, 0x7F, 0x01)
WARPWRIGHT_SMALL_LIMITS(Float8_e5m2, 3, 16, 0x04, 0xFB, 0x7B, 0x34, 0x7C, 0x7E, 0x01)
#undef WARPWRIGHT_SMALL_LIMITS

}  // namespace std

namespace at {
using c10::BFloat16;
using c10::Float8_e4m3fn;
using c10::Float8_e5m2;
using c10::Half;
}  // namespace at
namespace torch {
using c10::BFloat16;
using c10::Half;
}  // namespace torch

#endif
