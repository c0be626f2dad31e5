// Maybe: std::optional as a parameter. In the device pass, which throws host code away, it is only declared: a real
// optional with a default costs that pass more time than all of Tensor.
#ifndef WARPWRIGHT_MAYBE_H
#define WARPWRIGHT_MAYBE_H

#include "warpwright/standard.h"

namespace warpwright {

#if defined(__CUDA_ARCH__) && !defined(WARPWRIGHT_CAPTURE)
template <class T>
class Maybe {
 public:
  Maybe() = default;
  Maybe(std::nullopt_t) {}
  template <class U, class = std::enable_if_t<std::is_convertible<U&&, T>::value>>
  Maybe(U&& value);
  template <class U, class = std::enable_if_t<std::is_convertible<const U&, T>::value>>
  Maybe(const std::optional<U>& value);
  template <class U>
  T value_or(U&& otherwise) const;
  bool has_value() const;
};
#else
template <class T>
using Maybe = std::optional<T>;
#endif

}  // namespace warpwright

#endif
