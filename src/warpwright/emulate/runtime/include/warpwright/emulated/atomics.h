// Atomic operations: checked as one access, executed at once, because one thread runs at a time.
#ifndef WARPWRIGHT_EMULATED_ATOMICS_H
#define WARPWRIGHT_EMULATED_ATOMICS_H

#include "warpwright/emulated/machine.h"

// Inlined whatever the level of optimisation, so that findings name the line of the candidate.
#define WARPWRIGHT_HERE __attribute__((always_inline)) inline

namespace warpwright::emulated {

template <class T, class F>
WARPWRIGHT_HERE T exchange_with(T* address, F next, Strength strength = {}) {
  touch(address, sizeof(T), Access::ATOMIC, strength);
  T old = peek<T>(address);
  poke<T>(address, next(old));
  return old;
}

}  // namespace warpwright::emulated

// Atomic for the threads of one block only.
inline constexpr warpwright::emulated::Strength WARPWRIGHT_IN_BLOCK{true, true};

// Each has forms for a block and for the system, which differ in scope only.
#define WARPWRIGHT_ATOMIC(NAME, NEXT)                                                                \
  template <class T, class U>                                                                        \
  WARPWRIGHT_HERE T NAME(T* address, U operand, warpwright::emulated::Strength strength = {}) {      \
    const T value = static_cast<T>(operand);                                                         \
    return warpwright::emulated::exchange_with(address, [&](T old) -> T { return NEXT; }, strength); \
  }                                                                                                  \
  template <class T, class U>                                                                        \
  WARPWRIGHT_HERE T NAME##_block(T* address, U operand) {                                            \
    return NAME(address, operand, WARPWRIGHT_IN_BLOCK);                                              \
  }                                                                                                  \
  template <class T, class U>                                                                        \
  WARPWRIGHT_HERE T NAME##_system(T* address, U operand) {                                           \
    return NAME(address, operand);                                                                   \
  }
WARPWRIGHT_ATOMIC(atomicAdd, old + value)
WARPWRIGHT_ATOMIC(atomicSub, old - value)
WARPWRIGHT_ATOMIC(atomicMin, value < old ? value : old)
WARPWRIGHT_ATOMIC(atomicMax, old < value ? value : old)
WARPWRIGHT_ATOMIC(atomicExch, (void(old), value))
WARPWRIGHT_ATOMIC(atomicAnd, old& value)
WARPWRIGHT_ATOMIC(atomicOr, old | value)
WARPWRIGHT_ATOMIC(atomicXor, old ^ value)
WARPWRIGHT_ATOMIC(atomicInc, old >= value ? T(0) : T(old + 1))
WARPWRIGHT_ATOMIC(atomicDec, old == T(0) || old > value ? value : T(old - 1))
#undef WARPWRIGHT_ATOMIC

template <class T, class U, class V>
WARPWRIGHT_HERE T atomicCAS(T* address, U expected, V desired, warpwright::emulated::Strength strength = {}) {
  const T wanted = static_cast<T>(expected), value = static_cast<T>(desired);
  return warpwright::emulated::exchange_with(
      address, [&](T old) { return __builtin_memcmp(&old, &wanted, sizeof(T)) == 0 ? value : old; }, strength);
}
template <class T, class U, class V>
WARPWRIGHT_HERE T atomicCAS_block(T* address, U expected, V desired) {
  return atomicCAS(address, expected, desired, WARPWRIGHT_IN_BLOCK);
}
template <class T, class U, class V>
WARPWRIGHT_HERE T atomicCAS_system(T* address, U expected, V desired) {
  return atomicCAS(address, expected, desired);
}

WARPWRIGHT_HERE float2 atomicAdd(float2* address, float2 v) {
  return warpwright::emulated::exchange_with(address, [&](float2 o) { return float2{o.x + v.x, o.y + v.y}; });
}
WARPWRIGHT_HERE float4 atomicAdd(float4* address, float4 v) {
  return warpwright::emulated::exchange_with(
      address, [&](float4 o) { return float4{o.x + v.x, o.y + v.y, o.z + v.z, o.w + v.w}; });
}

#endif
