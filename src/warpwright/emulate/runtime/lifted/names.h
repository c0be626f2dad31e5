// Names of lifted numbers: the bits of a float, or of a small float, that stand for a number.
//
// A name is a float close to the number's value, so that comparisons of bits, signs by mask and exponents by shift work
// on names as they do on floats. Floats that a program may write as constants name themselves only. Equal numbers have
// equal names; which of the floats nearby is the name depends on a seed, so that a result that depends on it shows.
#ifndef WARPWRIGHT_LIFTED_NAMES_H
#define WARPWRIGHT_LIFTED_NAMES_H

#include "number.h"

namespace warpwright::lifted {

constexpr uint32_t SIGN = 0x80000000u;

void seed_names(uint64_t seed);
Number number_of(uint32_t bits);
uint32_t name_of(const Number& x);
// The name of a constant of the program, which no other number will have.
uint32_t name_of_constant(double value);

enum class Small : int { HALF, BFLOAT16, COUNT };
// The name of sixteen bits for the number that a float names, and back.
uint16_t narrowed(Small format, uint32_t name);
uint32_t widened(Small format, uint16_t bits);

}  // namespace warpwright::lifted

#endif
