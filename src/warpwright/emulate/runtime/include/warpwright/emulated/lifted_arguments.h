// Host arguments of lifted programs: a number that Python passes is a constant.
#ifndef WARPWRIGHT_EMULATED_LIFTED_ARGUMENTS_H
#define WARPWRIGHT_EMULATED_LIFTED_ARGUMENTS_H

#include "warpwright/emulated/lifted_headers.h"

template <>
struct warpwright::Convert<warpwright::lifted::Real> : warpwright::Convert<double> {
  using Held = warpwright::lifted::Real;
  static Held from(const Value& value) { return Held(real_from(value)); }
  static Held& pass(Held& held) { return held; }
  static Value to(Held value) { return Value(::warpwright::lifted::value_of(value.bits)); }
};
template <>
struct warpwright::Convert<warpwright::lifted::Wide> : warpwright::Convert<warpwright::lifted::Real> {
  using Held = warpwright::lifted::Wide;
  static Held from(const Value& value) { return Held(real_from(value)); }
  static Held& pass(Held& held) { return held; }
};

#endif
