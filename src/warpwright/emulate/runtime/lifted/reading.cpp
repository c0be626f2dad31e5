// What a float in a program means: a whole number, a known constant, a short decimal, a ratio, or a root of a ratio.
//
// Kernel and reference read the same float alike, so a reading that nobody meant does no harm.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "number.h"

namespace warpwright::lifted {
namespace {

constexpr double PI = 3.14159265358979323846, HALF_ULP = 6.0e-8;
constexpr int64_t MOST_DENOMINATOR = 4096, MOST_UNDER_ROOT = 256, FEW = 16;
constexpr size_t CACHED = 1 << 16;

// Pi is a square, so that roots of its multiples keep their residues.
Number pi() {
  Number result{PI, {}, 0};
  for (int i = 0; i < LEVELS; ++i) {
    const uint64_t root = hashed(314159 + i, P[i]);
    result.residue[i] = static_cast<uint32_t>(root * root % P[i]);
  }
  return result;
}

std::optional<Number> constant(double x) {
  static const std::array<Number, 16> known = [] {
    const Number one = whole(1), two = whole(2), ten = whole(10), ln2 = logarithm(two), ln10 = logarithm(ten);
    return std::array<Number, 16>{
        pi(), divide(one, pi()), divide(two, pi()), divide(pi(), two), multiply(two, pi()), divide(one, multiply(two, pi())),
        square_root(pi()), divide(one, square_root(pi())), divide(two, square_root(pi())),
        square_root(divide(two, pi())), square_root(multiply(two, pi())), divide(one, square_root(multiply(two, pi()))),
        ln2, divide(one, ln2), ln10, divide(one, ln10)};
  }();
  for (const Number& one : known)
    if (std::fabs(x - one.value) < HALF_ULP * 1.5 * one.value) return one;
  return std::nullopt;
}

Number ratio(int64_t above, int64_t below) { return divide(whole(above), whole(below)); }

Number decimal(const char* digits) {
  int64_t mantissa = 0;
  int shift = 0;
  bool behind_point = false;
  for (; *digits && *digits != 'e'; ++digits) {
    if (*digits == '.') behind_point = true;
    else mantissa = mantissa * 10 + (*digits - '0'), shift -= behind_point;
  }
  if (*digits == 'e') shift += std::atoi(digits + 1);
  Number scale = whole(1);
  for (int i = 0; i < std::abs(shift); ++i) scale = multiply(scale, whole(10));
  return shift < 0 ? divide(whole(mantissa), scale) : multiply(whole(mantissa), scale);
}

std::optional<Number> short_decimal(float x) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", static_cast<double>(x));
  if (std::strtof(digits, nullptr) != x) return std::nullopt;
  Number result = decimal(digits);
  result.value = std::strtod(digits, nullptr);
  return result;
}

// The first convergent of the continued fraction that rounds to x.
std::optional<std::pair<int64_t, int64_t>> convergent(double x, int64_t most, double tolerance) {
  int64_t above = 1, below = 0, last_above = 0, last_below = 1;
  double rest = x;
  for (int i = 0; i < 24; ++i) {
    const double part = std::floor(rest);
    if (part > 1e9) break;
    const auto term = static_cast<int64_t>(part);
    const int64_t next_above = term * above + last_above, next_below = term * below + last_below;
    last_above = above, last_below = below, above = next_above, below = next_below;
    if (below > most || above > (int64_t{1} << 24)) break;
    if (std::fabs(x - static_cast<double>(above) / below) < tolerance * x) return std::pair{above, below};
    if (rest == part) break;
    rest = 1 / (rest - part);
  }
  return std::nullopt;
}

std::optional<Number> meant(float x) {
  const double wide = x;
  if (wide == std::floor(wide) && wide < 9e15) return whole(static_cast<int64_t>(wide));
  if (wide > 1e18 || wide < 1e-30) return lost(wide);
  if (auto found = constant(wide)) return *found;
  if (auto found = short_decimal(x)) return *found;
  const auto fraction = convergent(wide, MOST_DENOMINATOR, HALF_ULP);
  if (fraction && fraction->first <= FEW) return ratio(fraction->first, fraction->second);
  if (auto found = convergent(wide * wide, MOST_UNDER_ROOT, 2 * HALF_ULP))
    return square_root(ratio(found->first, found->second));
  if (fraction) return ratio(fraction->first, fraction->second);
  return std::nullopt;
}

Number read_positive(float x) {
  if (auto found = meant(x)) return *found;
  const double wide = x;
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.9g", wide);
  Number result = decimal(digits);
  result.value = wide;
  return result;
}

Number made(float x) {
  if (std::isnan(x) || std::isinf(x)) return lost(x);
  return std::signbit(x) ? negated(read_positive(-x)) : read_positive(x);
}

}  // namespace

bool has_meaning(float value) { return meant(std::fabs(value)).has_value(); }

Number read(float value) {
  struct Entry {
    uint32_t bits;
    bool is_used;
    Number number;
  };
  static std::array<Entry, CACHED> cache;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  Entry& entry = cache[(bits * 2654435761u) >> 16];
  if (!entry.is_used || entry.bits != bits) entry = {bits, true, made(value)};
  return entry.number;
}

}  // namespace warpwright::lifted
