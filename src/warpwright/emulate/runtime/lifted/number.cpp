// Arithmetic of lifted numbers.
#include "number.h"

#include <cmath>

namespace warpwright::lifted {
namespace {

constexpr double SENTINEL = -1e4;  // Exponents below it come from masks such as -1e30, whose exponential is zero.
constexpr int MOST_EXACT_POWER = 256;

template <class F>
Number residuewise(double value, const Number& a, const Number& b, F compute) {
  Number result{value, {}, a.flags | b.flags};
  for (int i = 0; i < LEVELS; ++i) {
    const bool known = std::isfinite(value) && a.residue[i] != LOST && b.residue[i] != LOST;
    result.residue[i] = known ? static_cast<uint32_t>(compute(a.residue[i], b.residue[i], P[i])) : LOST;
  }
  return result;
}

// A function without algebraic laws: equal residues give equal ones, and nothing else is known.
Number opaque(int function, double value, const Number& x) {
  Number result{value, {}, x.flags | OPAQUE};
  for (int i = 0; i < LEVELS; ++i) {
    const bool known = std::isfinite(value) && x.residue[i] != LOST;
    result.residue[i] = known ? hashed(uint64_t(function + 1) << 40 ^ uint64_t(i) << 34 ^ x.residue[i], P[i]) : LOST;
  }
  return result;
}

Number odd(int function, double value, const Number& x) {
  if (is_zero(x)) return x;
  return x.value < 0 ? negated(opaque(function, -value, negated(x))) : opaque(function, value, x);
}

Number even(int function, double value, const Number& x) {
  return opaque(function, value, x.value < 0 ? negated(x) : x);
}

Number rounded(double value) { return std::fabs(value) < 9e15 ? whole(static_cast<int64_t>(value)) : lost(value); }

Number hyperbolic_tangent(const Number& x) {
  const Number squared = exponential(add(x, x));
  Number result = divide(subtract(squared, whole(1)), add(squared, whole(1)));
  result.value = std::tanh(x.value);
  if (std::fabs(result.value) == 1.0) return result.value > 0 ? whole(1) : whole(-1);
  return result;
}

Number to_whole_power(const Number& base, int64_t exponent) {
  Number result = whole(1), square = base;
  for (uint64_t left = exponent < 0 ? -exponent : exponent; left; left >>= 1) {
    if (left & 1) result = multiply(result, square);
    square = multiply(square, square);
  }
  return exponent < 0 ? divide(whole(1), result) : result;
}

Number to_power(const Number& a, const Number& b) {
  const double halves = 2 * b.value;
  if (halves == std::floor(halves) && std::fabs(halves) < 2 * MOST_EXACT_POWER) {
    const auto whole_part = static_cast<int64_t>(std::floor(b.value));
    const Number power = to_whole_power(a, whole_part);
    return whole_part == b.value ? power : multiply(power, square_root(a));
  }
  Number result = exponential(multiply(b, logarithm(a)));
  result.value = std::pow(a.value, b.value);
  return result;
}

}  // namespace

bool is_zero(const Number& x) {
  if (x.value != 0) return false;
  for (uint32_t residue : x.residue)
    if (residue != 0) return false;
  return true;
}

uint32_t power(uint64_t base, uint64_t exponent, uint32_t modulus) {
  uint64_t result = 1;
  for (base %= modulus; exponent; exponent >>= 1, base = base * base % modulus)
    if (exponent & 1) result = result * base % modulus;
  return static_cast<uint32_t>(result);
}

uint32_t inverse(uint32_t x, uint32_t modulus) { return power(x, modulus - 2, modulus); }

bool is_square(uint32_t x, uint32_t modulus) { return power(x, (modulus - 1) / 2, modulus) == 1; }

uint32_t hashed(uint64_t seed, uint32_t modulus) {
  seed += 0x9e3779b97f4a7c15ull;
  seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
  seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
  return static_cast<uint32_t>((seed ^ seed >> 31) % modulus);
}

Number whole(int64_t value) {
  Number result{static_cast<double>(value), {}, 0};
  for (int i = 0; i < LEVELS; ++i) {
    const int64_t residue = value % static_cast<int64_t>(P[i]);
    result.residue[i] = static_cast<uint32_t>(residue < 0 ? residue + P[i] : residue);
  }
  return result;
}

Number lost(double value) { return {value, {LOST, LOST, LOST, LOST}, 0}; }

Number negated(const Number& x) {
  Number result = x;
  result.value = -x.value;
  for (int i = 0; i < LEVELS; ++i)
    if (x.residue[i] != LOST && x.residue[i] != 0) result.residue[i] = P[i] - x.residue[i];
  return result;
}

Number add(const Number& a, const Number& b) {
  return residuewise(a.value + b.value, a, b, [](uint64_t x, uint64_t y, uint32_t p) { return (x + y) % p; });
}

Number subtract(const Number& a, const Number& b) {
  return residuewise(a.value - b.value, a, b, [](uint64_t x, uint64_t y, uint32_t p) { return (x + p - y) % p; });
}

Number multiply(const Number& a, const Number& b) {
  // Zero hides what is lost in the other factor, as a mask does.
  if ((is_zero(a) && std::isfinite(b.value)) || (is_zero(b) && std::isfinite(a.value))) return whole(0);
  return residuewise(a.value * b.value, a, b, [](uint64_t x, uint64_t y, uint32_t p) { return x * y % p; });
}

Number divide(const Number& a, const Number& b) {
  if (is_zero(a) && b.value != 0 && std::isfinite(b.value)) return whole(0);
  return residuewise(a.value / b.value, a, b, [](uint64_t x, uint64_t y, uint32_t p) -> uint64_t {
    return y == 0 ? LOST : x * inverse(static_cast<uint32_t>(y), p) % p;
  });
}

// The flags of a function whose residue at a level comes from the level `from` below or above.
uint32_t moved_flags(uint32_t flags, int level, int from) { return flags & up_to_sign(from) ? up_to_sign(level) : 0; }

Number exponential(const Number& x) {
  if (x.value < SENTINEL) return whole(0);
  if (is_zero(x)) return whole(1);
  Number result{std::exp(x.value), {LOST, LOST, LOST, LOST}, x.flags & (OPAQUE | LEFT)};
  for (int i = 0; i + 1 < LEVELS && std::isfinite(result.value); ++i) {
    if (x.residue[i + 1] == LOST) continue;
    result.residue[i] = power(4, x.residue[i + 1], P[i]);
    result.flags |= moved_flags(x.flags, i, i + 1);
  }
  return result;
}

// Minus one is no square, so that either x or -x is one: the logarithm is that of the group of numbers up to sign.
Number logarithm(const Number& x) {
  if (x.value == 1 && x.residue[0] == 1) return whole(0);
  Number result{std::log(x.value), {LOST, LOST, LOST, LOST}, x.flags & (OPAQUE | LEFT)};
  for (int i = 0; i + 1 < LEVELS && std::isfinite(result.value); ++i) {
    if (x.residue[i] == LOST || x.residue[i] == 0) continue;
    const bool square = is_square(x.residue[i], P[i]);
    result.residue[i + 1] = discrete_log(i, square ? x.residue[i] : P[i] - x.residue[i]);
    result.flags |= square ? moved_flags(x.flags, i + 1, i) : up_to_sign(i + 1);
  }
  return result;
}

Number square_root(const Number& x) {
  Number result{std::sqrt(x.value), {LOST, LOST, LOST, LOST}, x.flags};
  for (int i = 0; i < LEVELS && std::isfinite(result.value); ++i) {
    if (x.residue[i] == LOST) continue;
    result.residue[i] = power(x.residue[i], (uint64_t{P[i]} + 1) / 4, P[i]);
    if (x.residue[i] != 0 && !is_square(x.residue[i], P[i])) result.flags |= up_to_sign(i);
  }
  return result;
}

Number apply(Unary operation, const Number& x) {
  const int function = static_cast<int>(operation);
  switch (operation) {
    case Unary::EXP: return exponential(x);
    case Unary::LOG: return logarithm(x);
    case Unary::SQRT: return square_root(x);
    case Unary::TANH: return hyperbolic_tangent(x);
    case Unary::ERF: return odd(function, std::erf(x.value), x);
    case Unary::SIN: return odd(function, std::sin(x.value), x);
    case Unary::COS: return even(function, std::cos(x.value), x);
    case Unary::TAN: return odd(function, std::tan(x.value), x);
    case Unary::ASIN: return odd(function, std::asin(x.value), x);
    case Unary::ACOS: return opaque(function, std::acos(x.value), x);
    case Unary::ATAN: return odd(function, std::atan(x.value), x);
    case Unary::LGAMMA: return opaque(function, std::lgamma(x.value), x);
    case Unary::FLOOR: return rounded(std::floor(x.value));
    case Unary::CEIL: return rounded(std::ceil(x.value));
    case Unary::ROUND: return rounded(std::round(x.value));
    case Unary::TRUNC: return rounded(std::trunc(x.value));
    case Unary::NEAREST: return rounded(std::nearbyint(x.value));
    case Unary::ABS: return std::signbit(x.value) ? negated(x) : x;
    case Unary::NEGATE: return negated(x);
    default: return lost(NAN);
  }
}

Number apply(Binary operation, const Number& a, const Number& b) {
  switch (operation) {
    case Binary::ADD: return add(a, b);
    case Binary::SUBTRACT: return subtract(a, b);
    case Binary::MULTIPLY: return multiply(a, b);
    case Binary::DIVIDE: return divide(a, b);
    case Binary::POWER: return to_power(a, b);
    case Binary::MODULO: return subtract(a, multiply(b, rounded(std::trunc(a.value / b.value))));
    case Binary::ATAN2: return opaque(99, std::atan2(a.value, b.value), divide(a, b));
    case Binary::LARGER: return a.value != a.value || a.value > b.value ? a : b;
    case Binary::SMALLER: return a.value != a.value || a.value < b.value ? a : b;
    default: return lost(NAN);
  }
}

}  // namespace warpwright::lifted
