// Function objects: the standard library's, and those of Thrust's own.
#ifndef WARPWRIGHT_THRUST_FUNCTIONAL_H
#define WARPWRIGHT_THRUST_FUNCTIONAL_H

#include <cuda/functional>

namespace thrust {

using ::std::bit_and;
using ::std::bit_or;
using ::std::bit_xor;
using ::std::divides;
using ::std::equal_to;
using ::std::greater;
using ::std::greater_equal;
using ::std::less;
using ::std::less_equal;
using ::std::logical_and;
using ::std::logical_not;
using ::std::logical_or;
using ::std::minus;
using ::std::modulus;
using ::std::multiplies;
using ::std::negate;
using ::std::not_equal_to;
using ::std::plus;

using ::cuda::maximum;
using ::cuda::minimum;

template <class T = void>
struct identity {
  const T& operator()(const T& x) const { return x; }
};
template <>
struct identity<void> {
  template <class T>
  T operator()(const T& x) const {
    return x;
  }
};
template <class T = void>
struct square {
  T operator()(const T& x) const { return x * x; }
};
template <>
struct square<void> {
  template <class T>
  T operator()(const T& x) const {
    return x * x;
  }
};

}  // namespace thrust

#endif
