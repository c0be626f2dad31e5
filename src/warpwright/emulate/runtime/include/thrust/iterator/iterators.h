// Ranges that are computed as they are read, by the names of Thrust.
#ifndef WARPWRIGHT_THRUST_ITERATORS_H
#define WARPWRIGHT_THRUST_ITERATORS_H

#include <type_traits>

#include "../../cub/iterator/iterators.cuh"

namespace thrust {

template <class T>
using counting_iterator = ::cub::CountingInputIterator<T>;
template <class T>
using constant_iterator = ::cub::ConstantInputIterator<T>;
template <class F, class I>
using transform_iterator =
    ::cub::TransformInputIterator<std::decay_t<decltype(std::declval<F>()(*std::declval<I>()))>, F, I>;

template <class T>
counting_iterator<T> make_counting_iterator(T first) {
  return counting_iterator<T>(first);
}
template <class T>
constant_iterator<T> make_constant_iterator(T value) {
  return constant_iterator<T>(value);
}
template <class I, class F>
transform_iterator<F, I> make_transform_iterator(I in, F change) {
  return transform_iterator<F, I>(in, change);
}

}  // namespace thrust

#endif
