// at::acc_type and at::opmath_type: the type in which sums of a type are kept.
#ifndef WARPWRIGHT_ACCUMULATE_H
#define WARPWRIGHT_ACCUMULATE_H

#include "warpwright/scalar_type.h"

namespace at {

template <class T, bool ON_CUDA>
struct AccumulateType {
  using type = std::conditional_t<std::is_integral<T>::value && !std::is_same<T, bool>::value, int64_t, T>;
};
template <bool ON_CUDA>
struct AccumulateType<float, ON_CUDA> {
  using type = std::conditional_t<ON_CUDA, float, double>;
};
template <bool ON_CUDA>
struct AccumulateType<Half, ON_CUDA> {
  using type = float;
};
template <bool ON_CUDA>
struct AccumulateType<BFloat16, ON_CUDA> {
  using type = float;
};
template <class T, bool ON_CUDA>
using acc_type = typename AccumulateType<T, ON_CUDA>::type;
template <class T>
using acc_type_device = acc_type<T, true>;

template <class T>
struct OpMathType {
  using type = std::conditional_t<std::is_same<T, Half>::value || std::is_same<T, BFloat16>::value ||
                                      std::is_same<T, Float8_e4m3fn>::value || std::is_same<T, Float8_e5m2>::value,
                                  float, T>;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;

}  // namespace at

#endif
