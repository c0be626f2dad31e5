// Lifted numbers: a double that decides comparisons, and residues modulo four primes that decide equality.
//
// The primes form a chain, P[i] = 2 P[i+1] + 1. The squares modulo P[i] are a group of order P[i+1], so exp maps
// residues modulo P[i+1] to residues modulo P[i], and log maps them back; both are exact homomorphisms. A residue that
// an operation does not have is LOST, never guessed.
#ifndef WARPWRIGHT_LIFTED_NUMBER_H
#define WARPWRIGHT_LIFTED_NUMBER_H

#include <cstdint>

namespace warpwright::lifted {

constexpr int LEVELS = 4;
constexpr uint32_t P[LEVELS] = {2147046719, 1073523359, 536761679, 268380839};
constexpr uint32_t LOST = 0xffffffff;

// Flags: the number depends on a function that is not algebraic, such as erf; a float has left the lifted numbers;
// and, for each level, the residue is that of a root or of a logarithm of no square, which is known up to sign only.
constexpr uint32_t OPAQUE = 1, LEFT = 2, FIRST_UP_TO_SIGN = 4;
constexpr uint32_t up_to_sign(int level) { return FIRST_UP_TO_SIGN << level; }

struct Number {
  double value;
  uint32_t residue[LEVELS];
  uint32_t flags;
};

enum class Unary : int { EXP, LOG, SQRT, TANH, ERF, SIN, COS, TAN, ASIN, ACOS, ATAN, LGAMMA, FLOOR, CEIL, ROUND, TRUNC,
                         NEAREST, ABS, NEGATE, COUNT };
enum class Binary : int { ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, MODULO, ATAN2, LARGER, SMALLER, COUNT };

Number whole(int64_t value);
// A number read from a float: the constant that a programmer means by it, such as 1e-5, 1/3 or sqrt(2).
Number read(float value);
// Whether the float means a known constant, a short decimal, a ratio or a root, rather than its digits.
bool has_meaning(float value);
// A number without residues.
Number lost(double value);

Number negated(const Number& x);
Number add(const Number& a, const Number& b);
Number subtract(const Number& a, const Number& b);
Number multiply(const Number& a, const Number& b);
Number divide(const Number& a, const Number& b);
Number exponential(const Number& x);
Number logarithm(const Number& x);
Number square_root(const Number& x);
Number apply(Unary operation, const Number& x);
Number apply(Binary operation, const Number& a, const Number& b);

bool is_zero(const Number& x);
uint32_t power(uint64_t base, uint64_t exponent, uint32_t modulus);
uint32_t inverse(uint32_t x, uint32_t modulus);
bool is_square(uint32_t x, uint32_t modulus);
// The discrete logarithm to base 4 of a square modulo P[level], modulo P[level + 1].
uint32_t discrete_log(int level, uint32_t x);
uint32_t hashed(uint64_t seed, uint32_t modulus);

}  // namespace warpwright::lifted

#endif
