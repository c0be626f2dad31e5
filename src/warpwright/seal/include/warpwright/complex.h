// c10::complex: enough for signatures, sizes and the obvious arithmetic.
#ifndef WARPWRIGHT_COMPLEX_H
#define WARPWRIGHT_COMPLEX_H

#include "warpwright/half.h"

namespace c10 {

template <class T>
struct alignas(sizeof(T) * 2) complex {
  using value_type = T;
  T real_ = T(0), imag_ = T(0);

  constexpr complex() = default;
  constexpr __host__ __device__ complex(T re, T im = T()) : real_(re), imag_(im) {}
  template <class U>
  constexpr explicit __host__ __device__ complex(const complex<U>& other) : real_(other.real_), imag_(other.imag_) {}
  constexpr __host__ __device__ T real() const { return real_; }
  constexpr __host__ __device__ T imag() const { return imag_; }
  constexpr __host__ __device__ complex operator-() const { return {-real_, -imag_}; }
  constexpr __host__ __device__ complex& operator+=(const complex& o) { return *this = *this + o; }
  constexpr __host__ __device__ complex& operator-=(const complex& o) { return *this = *this - o; }
  constexpr __host__ __device__ complex& operator*=(const complex& o) { return *this = *this * o; }
  friend constexpr __host__ __device__ complex operator+(const complex& a, const complex& b) {
    return {a.real_ + b.real_, a.imag_ + b.imag_};
  }
  friend constexpr __host__ __device__ complex operator-(const complex& a, const complex& b) {
    return {a.real_ - b.real_, a.imag_ - b.imag_};
  }
  friend constexpr __host__ __device__ complex operator*(const complex& a, const complex& b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  friend constexpr __host__ __device__ bool operator==(const complex& a, const complex& b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }
};

template <>
struct alignas(4) complex<Half> {
  Half real_, imag_;
};

}  // namespace c10

namespace at {
using c10::complex;
}

#endif
