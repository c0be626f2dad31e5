// Sixteen-bit and eight-bit floating formats as integers: conversion in plain arithmetic, for the host.
#ifndef WARPWRIGHT_HALF_BITS_H
#define WARPWRIGHT_HALF_BITS_H

#include <cstdint>
#include <cstring>

namespace warpwright {

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// A small format with E exponent bits and M mantissa bits. FINITE formats (e4m3fn) have no infinity and one NaN.
template <int E, int M, bool FINITE>
struct SmallFloat {
  static constexpr int BIAS = (1 << (E - 1)) - 1;
  static constexpr uint32_t TOP = (1u << E) - 1;
  static constexpr uint32_t INFINITE = FINITE ? (1u << (E + M)) - 1 : TOP << M;
  static constexpr uint32_t NOT_A_NUMBER = FINITE ? INFINITE : INFINITE | 1u << (M - 1);
  static constexpr uint32_t SIGN = 1u << (E + M);

  // bfloat16 is the upper half of a float, subnormals included, for which the general way has no exponents left.
  static constexpr bool IS_UPPER_HALF = E == 8 && M == 7;

  static float widen(uint32_t bits) {
    if (IS_UPPER_HALF) return bits_as<float>(bits << 16);
    uint32_t sign = bits & SIGN ? 0x80000000u : 0u, exponent = bits >> M & TOP, mantissa = bits & ((1u << M) - 1);
    uint32_t magnitude = bits & (SIGN - 1);
    if (FINITE ? magnitude == INFINITE : exponent == TOP)
      return bits_as<float>(sign | 0x7f800000u | (FINITE ? 0x400000u : mantissa << (23 - M)));
    if (exponent == 0) {
      float tiny = static_cast<float>(mantissa) * bits_as<float>(static_cast<uint32_t>(128 - BIAS - M) << 23);
      return sign ? -tiny : tiny;
    }
    return bits_as<float>(sign | (exponent + 127 - BIAS) << 23 | mantissa << (23 - M));
  }

  static uint32_t narrow(float value) {
    uint32_t word = bits_as<uint32_t>(value), sign = word >> 31 ? SIGN : 0u, magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | NOT_A_NUMBER;
    if (IS_UPPER_HALF) return (word + 0x7fffu + (word >> 16 & 1u)) >> 16;
    int exponent = static_cast<int>(magnitude >> 23) - 127 + BIAS;
    if (exponent > static_cast<int>(TOP)) return sign | INFINITE;
    uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    int shift = 23 - M + (exponent > 0 ? 0 : 1 - exponent);
    if (shift > 25) return sign;
    uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1), half = 1u << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1u));
    uint32_t rounded = exponent > 0 ? kept + (static_cast<uint32_t>(exponent - 1) << M) : kept;
    return sign | (rounded < INFINITE ? rounded : INFINITE);
  }
};

using HalfBits = SmallFloat<5, 10, false>;
using BFloat16Bits = SmallFloat<8, 7, false>;
using E4M3Bits = SmallFloat<4, 3, true>;
using E5M2Bits = SmallFloat<5, 2, false>;

}  // namespace warpwright

#endif
