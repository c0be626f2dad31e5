// Functions that make tensors.
#ifndef WARPWRIGHT_FACTORIES_H
#define WARPWRIGHT_FACTORIES_H

#include "warpwright/tensor.h"

namespace at {

// torch::tensor({1, 2, 3}): values of the host code, kept on the CPU until they are copied to the device.
Tensor tensor_of(const void* data, ScalarType type, IntArrayRef shape, const TensorOptions& options);

#define WARPWRIGHT_FACTORY(NAME, ...)                                                      \
  Tensor NAME(IntArrayRef shape, ##__VA_ARGS__, const TensorOptions& options = {});        \
  Tensor NAME##_like(const Tensor& like, ##__VA_ARGS__, const TensorOptions& options = {}, \
                     warpwright::Maybe<MemoryFormat> format = std::nullopt);
WARPWRIGHT_FACTORY(empty)
WARPWRIGHT_FACTORY(zeros)
WARPWRIGHT_FACTORY(ones)
WARPWRIGHT_FACTORY(full, const Scalar& value)
WARPWRIGHT_FACTORY(rand)
WARPWRIGHT_FACTORY(randn)
#undef WARPWRIGHT_FACTORY

Tensor empty(IntArrayRef shape, const TensorOptions& options, warpwright::Maybe<MemoryFormat> format);
Tensor empty(IntArrayRef shape, warpwright::Maybe<ScalarType> dtype, warpwright::Maybe<Layout> layout,
             warpwright::Maybe<Device> device, warpwright::Maybe<bool> pinned, warpwright::Maybe<MemoryFormat> format);
Tensor empty_strided(IntArrayRef shape, IntArrayRef stride, const TensorOptions& options = {});
Tensor arange(const Scalar& end, const TensorOptions& options = {});
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options = {});
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options = {});
Tensor eye(int64_t n, const TensorOptions& options = {});
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef shape, const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef shape, IntArrayRef stride, const TensorOptions& options = {});

template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
Tensor tensor(T value, const TensorOptions& options = {}) {
  return tensor_of(&value, CppTypeToScalarType<T>::value, IntArrayRef(), options);
}
template <class T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  int64_t count = static_cast<int64_t>(values.size());
  return tensor_of(values.data(), CppTypeToScalarType<T>::value, count, options);
}
template <class T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values), options);
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values), options);
}

namespace detail {
inline Tensor empty_cuda(IntArrayRef shape, const TensorOptions& options) {
  return empty(shape, options.device(kCUDA));
}
}  // namespace detail

}  // namespace at

namespace torch {
using at::arange;
using at::empty;
using at::empty_like;
using at::empty_strided;
using at::eye;
using at::from_blob;
using at::full;
using at::full_like;
using at::linspace;
using at::ones;
using at::ones_like;
using at::rand;
using at::rand_like;
using at::randn;
using at::randn_like;
using at::scalar_tensor;
using at::tensor;
using at::zeros;
using at::zeros_like;
}  // namespace torch

#endif
