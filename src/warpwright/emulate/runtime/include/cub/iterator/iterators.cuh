// Ranges that are computed as they are read.
#ifndef WARPWRIGHT_CUB_ITERATORS_H
#define WARPWRIGHT_CUB_ITERATORS_H

#include <cstdint>
#include <iterator>
#include <utility>

namespace cub {

// The common part of iterators that compute their elements; `Self` computes the element at a position.
template <class Self, class T>
class ComputedRange {
 public:
  using value_type = T;
  using reference = T;
  using pointer = const T*;
  using difference_type = ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;
  T operator*() const { return self().at(0); }
  template <class N>
  T operator[](N i) const {
    return self().at(static_cast<ptrdiff_t>(i));
  }
  template <class N>
  Self operator+(N steps) const {
    return self().moved(static_cast<ptrdiff_t>(steps));
  }
  Self& operator++() { return *this += 1; }
  Self& operator+=(ptrdiff_t steps) { return static_cast<Self&>(*this) = self().moved(steps); }
  friend ptrdiff_t operator-(const Self& a, const Self& b) { return a.distance_from(b); }
  friend bool operator==(const Self& a, const Self& b) { return a.distance_from(b) == 0; }
  friend bool operator!=(const Self& a, const Self& b) { return a.distance_from(b) != 0; }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

template <class T, class F, class I>
class TransformInputIterator : public ComputedRange<TransformInputIterator<T, F, I>, T> {
 public:
  TransformInputIterator(I in, F change) : in_(in), change_(change) {}
  T at(ptrdiff_t i) const { return static_cast<T>(change_(in_[i])); }
  TransformInputIterator moved(ptrdiff_t steps) const { return {in_ + steps, change_}; }
  ptrdiff_t distance_from(const TransformInputIterator& other) const { return in_ - other.in_; }

 private:
  I in_;
  F change_;
};

template <class T>
class CountingInputIterator : public ComputedRange<CountingInputIterator<T>, T> {
 public:
  explicit CountingInputIterator(T first) : first_(first) {}
  T at(ptrdiff_t i) const { return static_cast<T>(first_ + static_cast<T>(i)); }
  CountingInputIterator moved(ptrdiff_t steps) const { return CountingInputIterator(at(steps)); }
  ptrdiff_t distance_from(const CountingInputIterator& other) const {
    return static_cast<ptrdiff_t>(first_ - other.first_);
  }

 private:
  T first_;
};

template <class T>
class ConstantInputIterator : public ComputedRange<ConstantInputIterator<T>, T> {
 public:
  explicit ConstantInputIterator(T value, ptrdiff_t place = 0) : value_(value), place_(place) {}
  T at(ptrdiff_t) const { return value_; }
  ConstantInputIterator moved(ptrdiff_t steps) const { return ConstantInputIterator(value_, place_ + steps); }
  ptrdiff_t distance_from(const ConstantInputIterator& other) const { return place_ - other.place_; }

 private:
  T value_;
  ptrdiff_t place_;
};

}  // namespace cub

#endif
