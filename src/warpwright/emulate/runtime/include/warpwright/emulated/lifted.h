// Real: stands for float in a program whose arithmetic is lifted (see runtime/lifted/number.h).
//
// It takes four bytes, as float does, so vectors, copies, shuffles and reinterpretations work as they are. Its bits are
// the name of a number: a float close to its value, with its sign (see runtime/lifted/names.h).
#ifndef WARPWRIGHT_EMULATED_LIFTED_H
#define WARPWRIGHT_EMULATED_LIFTED_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>

namespace warpwright {
[[noreturn]] void unsupported(const char* name);
}

namespace warpwright::lifted {

uint32_t literal(double value);
uint32_t whole_number(int64_t value);
double value_of(uint32_t bits);
// A float that leaves the lifted numbers; the result of the run proves nothing any more.
float left(uint32_t bits);
uint32_t unary(int operation, uint32_t x);
uint32_t binary(int operation, uint32_t a, uint32_t b);

struct Real;
struct Wide;
template <class T>
using IfNumber = std::enable_if_t<std::is_arithmetic<T>::value, int>;
template <class T>
using IfHoldsDouble = std::enable_if_t<std::is_class<T>::value && !std::is_base_of<Real, T>::value && (sizeof(T) > 2) &&
                                           std::is_constructible<T, double>::value,
                                       int>;

struct Real {
  uint32_t bits;

  Real() = default;
  // Kept bit by bit, because the bits may name a record: __int_as_float() gives a float.
  constexpr Real(float value) : bits(__builtin_bit_cast(uint32_t, value)) {}
  constexpr Real(double value)
      : bits(__builtin_is_constant_evaluated() ? __builtin_bit_cast(uint32_t, static_cast<float>(value))
                                               : literal(value)) {}
  template <class T, IfNumber<T> = 0>
  constexpr Real(T value)
      : bits(__builtin_is_constant_evaluated() ? __builtin_bit_cast(uint32_t, static_cast<float>(value))
                                               : whole_number(static_cast<int64_t>(value))) {}

  template <class T, IfNumber<T> = 0>
  explicit constexpr operator T() const {
    if (__builtin_is_constant_evaluated()) return static_cast<T>(__builtin_bit_cast(float, bits));
    if constexpr (std::is_same<T, bool>::value) return value_of(bits) != 0;
    if constexpr (std::is_same<T, float>::value) return left(bits);
    return static_cast<T>(value_of(bits));
  }
  // To what host code takes as a number, such as at::Scalar.
  template <class T, IfHoldsDouble<T> = 0>
  operator T() const {
    return T(static_cast<double>(value_of(bits)));
  }
};

// Stands for double. The other four bytes keep what a copy of two floats as one double brings.
struct alignas(8) Wide : Real {
  uint32_t rest;

  Wide() = default;
  template <class T, std::enable_if_t<std::is_convertible<T, Real>::value && !std::is_same<T, Wide>::value, int> = 0>
  constexpr Wide(const T& x) : Real(static_cast<Real>(x)), rest(0) {}
};

constexpr Real of_bits(uint32_t bits) { return Real(__builtin_bit_cast(float, bits)); }

#define WARPWRIGHT_OPERATOR(OP, CODE)                                                                \
  inline constexpr Real operator OP(Real a, Real b) {                                                \
    if (__builtin_is_constant_evaluated())                                                           \
      return Real(__builtin_bit_cast(float, a.bits) OP __builtin_bit_cast(float, b.bits));           \
    return of_bits(binary(CODE, a.bits, b.bits));                                                    \
  }                                                                                                  \
  template <class T, IfNumber<T> = 0>                                                                \
  constexpr Real operator OP(Real a, T b) {                                                          \
    return a OP Real(b);                                                                             \
  }                                                                                                  \
  template <class T, IfNumber<T> = 0>                                                                \
  constexpr Real operator OP(T a, Real b) {                                                          \
    return Real(a) OP b;                                                                             \
  }                                                                                                  \
  template <class T>                                                                                 \
  Real& operator OP##=(Real& a, const T& b) {                                                        \
    return a = a OP Real(b);                                                                         \
  }                                                                                                  \
  template <class T>                                                                                 \
  void operator OP##=(volatile Real& a, const T& b) {                                                \
    a.bits = (of_bits(a.bits) OP Real(b)).bits;                                                      \
  }
WARPWRIGHT_OPERATOR(+, 0)
WARPWRIGHT_OPERATOR(-, 1)
WARPWRIGHT_OPERATOR(*, 2)
WARPWRIGHT_OPERATOR(/, 3)
#undef WARPWRIGHT_OPERATOR

constexpr Real operator+(Real x) { return x; }
constexpr Real operator-(Real x) { return of_bits(x.bits ^ 0x80000000u); }
inline Real& operator++(Real& x) { return x += 1; }
inline Real& operator--(Real& x) { return x -= 1; }
inline Real operator++(Real& x, int) {
  const Real before = x;
  x += 1;
  return before;
}

#define WARPWRIGHT_COMPARISON(OP)                                                        \
  inline constexpr bool operator OP(Real a, Real b) {                                    \
    if (__builtin_is_constant_evaluated())                                               \
      return __builtin_bit_cast(float, a.bits) OP __builtin_bit_cast(float, b.bits);     \
    return value_of(a.bits) OP value_of(b.bits);                                         \
  }                                                                                      \
  template <class T, IfNumber<T> = 0>                                                    \
  constexpr bool operator OP(Real a, T b) {                                              \
    return a OP Real(b);                                                                 \
  }                                                                                      \
  template <class T, IfNumber<T> = 0>                                                    \
  constexpr bool operator OP(T a, Real b) {                                              \
    return Real(a) OP b;                                                                 \
  }
WARPWRIGHT_COMPARISON(<)
WARPWRIGHT_COMPARISON(>)
WARPWRIGHT_COMPARISON(<=)
WARPWRIGHT_COMPARISON(>=)
WARPWRIGHT_COMPARISON(==)
WARPWRIGHT_COMPARISON(!=)
#undef WARPWRIGHT_COMPARISON
inline bool operator!(Real x) { return value_of(x.bits) == 0; }

// The codecs of sixteen-bit floats: rounding to them is the identity.
uint16_t narrowed_half(uint32_t bits);
uint16_t narrowed_bfloat16(uint32_t bits);
uint32_t widened_half(uint16_t bits);
uint32_t widened_bfloat16(uint16_t bits);
struct HalfBits {
  static uint16_t narrow(Real x) { return narrowed_half(x.bits); }
  static Real widen(uint32_t bits) { return of_bits(widened_half(static_cast<uint16_t>(bits))); }
};
struct BFloat16Bits {
  static uint16_t narrow(Real x) { return narrowed_bfloat16(x.bits); }
  static Real widen(uint32_t bits) { return of_bits(widened_bfloat16(static_cast<uint16_t>(bits))); }
};
struct E4M3Bits {
  static uint8_t narrow(Real) { unsupported("floats of eight bits in lifted numbers"); }
  static Real widen(uint32_t) { unsupported("floats of eight bits in lifted numbers"); }
};
using E5M2Bits = E4M3Bits;

// Enters the constants of a program before any number can have their names.
inline bool enter_constants(std::initializer_list<double> values) {
  for (double value : values) literal(value);
  return true;
}

struct alignas(4) Real1 { Real x; };
struct alignas(8) Real2 { Real x, y; };
struct alignas(4) Real3 { Real x, y, z; };
struct alignas(16) Real4 { Real x, y, z, w; };
struct alignas(8) Wide1 { Wide x; };
struct alignas(16) Wide2 { Wide x, y; };
struct alignas(8) Wide3 { Wide x, y, z; };
struct alignas(16) Wide4 { Wide x, y, z, w; };
inline Wide1 make_wide1(Wide x) { return {x}; }
inline Wide2 make_wide2(Wide x, Wide y) { return {x, y}; }
inline Wide3 make_wide3(Wide x, Wide y, Wide z) { return {x, y, z}; }
inline Wide4 make_wide4(Wide x, Wide y, Wide z, Wide w) { return {x, y, z, w}; }
inline Real1 make_real1(Real x) { return {x}; }
inline Real2 make_real2(Real x, Real y) { return {x, y}; }
inline Real3 make_real3(Real x, Real y, Real z) { return {x, y, z}; }
inline Real4 make_real4(Real x, Real y, Real z, Real w) { return {x, y, z, w}; }

}  // namespace warpwright::lifted

template <>
struct std::numeric_limits<warpwright::lifted::Real> : std::numeric_limits<float> {
  using Real = warpwright::lifted::Real;
  static constexpr Real min() { return std::numeric_limits<float>::min(); }
  static constexpr Real max() { return std::numeric_limits<float>::max(); }
  static constexpr Real lowest() { return std::numeric_limits<float>::lowest(); }
  static constexpr Real infinity() { return std::numeric_limits<float>::infinity(); }
  static constexpr Real quiet_NaN() { return std::numeric_limits<float>::quiet_NaN(); }
  static constexpr Real epsilon() { return std::numeric_limits<float>::epsilon(); }
};

template <>
struct std::numeric_limits<warpwright::lifted::Wide> : std::numeric_limits<warpwright::lifted::Real> {};

#endif
