// torch::nn::functional: the option structs that extensions use, forwarded to the plain operations.
#ifndef WARPWRIGHT_FUNCTIONAL_H
#define WARPWRIGHT_FUNCTIONAL_H

#include "warpwright/operations.h"

namespace torch::nn::functional {

#define WARPWRIGHT_OPTION(TYPE, NAME, DEFAULT)                         \
 public:                                                               \
  auto& NAME(TYPE value) { return NAME##_ = std::move(value), *this; } \
  const TYPE& NAME() const { return NAME##_; }                         \
                                                                       \
 private:                                                              \
  TYPE NAME##_ = DEFAULT;

class SoftmaxFuncOptions {
 public:
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  WARPWRIGHT_OPTION(int64_t, dim, -1)
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;

class LayerNormFuncOptions {
 public:
  LayerNormFuncOptions(std::vector<int64_t> shape) : normalized_shape_(std::move(shape)) {}
  WARPWRIGHT_OPTION(std::vector<int64_t>, normalized_shape, {})
  WARPWRIGHT_OPTION(at::Tensor, weight, {})
  WARPWRIGHT_OPTION(at::Tensor, bias, {})
  WARPWRIGHT_OPTION(double, eps, 1e-5)
};

class LeakyReLUFuncOptions {
  WARPWRIGHT_OPTION(double, negative_slope, 0.01)
};

class PadFuncOptions {
 public:
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}
  WARPWRIGHT_OPTION(std::vector<int64_t>, pad, {})
  WARPWRIGHT_OPTION(double, value, 0.0)
};

class Conv2dFuncOptions {
  WARPWRIGHT_OPTION(at::Tensor, bias, {})
  WARPWRIGHT_OPTION(std::vector<int64_t>, stride, {1})
  WARPWRIGHT_OPTION(std::vector<int64_t>, padding, {0})
  WARPWRIGHT_OPTION(std::vector<int64_t>, dilation, {1})
  WARPWRIGHT_OPTION(int64_t, groups, 1)
};
#undef WARPWRIGHT_OPTION

inline at::Tensor softmax(const at::Tensor& x, const SoftmaxFuncOptions& o) { return at::softmax(x, o.dim()); }
inline at::Tensor log_softmax(const at::Tensor& x, const LogSoftmaxFuncOptions& o) {
  return at::log_softmax(x, o.dim());
}
inline at::Tensor layer_norm(const at::Tensor& x, const LayerNormFuncOptions& o) {
  return at::layer_norm(x, o.normalized_shape(), o.weight(), o.bias(), o.eps());
}
inline at::Tensor leaky_relu(const at::Tensor& x, const LeakyReLUFuncOptions& o = {}) {
  return at::leaky_relu(x, o.negative_slope());
}
inline at::Tensor pad(const at::Tensor& x, const PadFuncOptions& o) {
  return at::constant_pad_nd(x, o.pad(), o.value());
}
inline at::Tensor conv2d(const at::Tensor& x, const at::Tensor& weight, const Conv2dFuncOptions& o = {}) {
  return at::conv2d(x, weight, o.bias(), o.stride(), o.padding(), o.dilation(), o.groups());
}
inline at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {}) {
  return at::linear(x, weight, bias);
}
inline at::Tensor relu(const at::Tensor& x) { return at::relu(x); }
inline at::Tensor silu(const at::Tensor& x) { return at::silu(x); }
inline at::Tensor mish(const at::Tensor& x) { return at::mish(x); }
inline at::Tensor gelu(const at::Tensor& x) { return at::gelu(x); }
inline at::Tensor softplus(const at::Tensor& x) { return at::softplus(x); }

}  // namespace torch::nn::functional

#endif
