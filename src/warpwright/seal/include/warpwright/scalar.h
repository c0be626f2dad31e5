// Scalar: one number of any kind, as operations take it.
#ifndef WARPWRIGHT_SCALAR_H
#define WARPWRIGHT_SCALAR_H

#include "warpwright/scalar_type.h"

namespace c10 {

class Scalar {
 public:
  Scalar() : Scalar(int64_t(0)) {}
  Scalar(bool value) : kind_(Kind::BOOL), whole_(value) {}
  Scalar(Half value) : Scalar(static_cast<double>(static_cast<WARPWRIGHT_FLOAT>(value))) {}
  Scalar(BFloat16 value) : Scalar(static_cast<double>(static_cast<WARPWRIGHT_FLOAT>(value))) {}
  template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  Scalar(T value)
      : kind_(std::is_floating_point<T>::value ? Kind::REAL : Kind::WHOLE),
        whole_(std::is_floating_point<T>::value ? 0 : static_cast<int64_t>(value)),
        real_(std::is_floating_point<T>::value ? static_cast<double>(value) : 0.0) {}

  bool isFloatingPoint() const { return kind_ == Kind::REAL; }
  bool isIntegral(bool includeBool) const { return kind_ == Kind::WHOLE || (includeBool && isBoolean()); }
  bool isBoolean() const { return kind_ == Kind::BOOL; }
  bool isComplex() const { return false; }
  ScalarType type() const { return isFloatingPoint() ? kDouble : isBoolean() ? kBool : kLong; }

  template <class T>
  T to() const {
    return isFloatingPoint() ? static_cast<T>(real_) : static_cast<T>(whole_);
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return isFloatingPoint() ? real_ != 0 : whole_ != 0; }
  Scalar operator-() const { return isFloatingPoint() ? Scalar(-real_) : Scalar(-whole_); }

 private:
  enum class Kind : int8_t { WHOLE, REAL, BOOL };
  Kind kind_;
  int64_t whole_ = 0;
  double real_ = 0.0;
};
std::ostream& operator<<(std::ostream& out, const Scalar& value);

}  // namespace c10

namespace at {
using c10::Scalar;
}
namespace torch {
using c10::Scalar;
}

#endif
