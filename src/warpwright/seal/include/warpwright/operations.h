// Operations of torch as functions. Each is recorded as a node that the judge executes with torch.
#ifndef WARPWRIGHT_OPERATIONS_H
#define WARPWRIGHT_OPERATIONS_H

#include "warpwright/factories.h"

namespace at {

using OptionalTensor = std::optional<Tensor>;
using OptionalType = warpwright::Maybe<ScalarType>;

// Element by element.
#define WARPWRIGHT_DECLARE(NAME, RESULT)                          \
  inline Tensor NAME(const Tensor& self) { return self.NAME(); }  \
  inline Tensor& NAME##_(Tensor& self) { return self.NAME##_(); } \
  inline Tensor& NAME##_out(Tensor& out, const Tensor& self) { return out.copy_(self.NAME()); }
WARPWRIGHT_UNARY_METHODS(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE
#define WARPWRIGHT_DECLARE(NAME, RESULT) \
  Tensor NAME(const Tensor& self);       \
  Tensor& NAME##_(Tensor& self);
WARPWRIGHT_UNARY_FUNCTIONS(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE
#define WARPWRIGHT_DECLARE(NAME) \
  inline Tensor NAME(const Tensor& self) { return self.NAME(); }
WARPWRIGHT_UNARY_TESTS(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE
#define WARPWRIGHT_DECLARE(NAME, OP)                                         \
  inline Tensor NAME(const Tensor& a, const Tensor& b) { return a.NAME(b); } \
  inline Tensor NAME(const Tensor& a, const Scalar& b) { return a.NAME(b); }
WARPWRIGHT_COMPARISONS(WARPWRIGHT_DECLARE)
WARPWRIGHT_BITWISE(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE
#define WARPWRIGHT_DECLARE(NAME) \
  inline Tensor NAME(const Tensor& a, const Tensor& b) { return a.NAME(b); }
WARPWRIGHT_PAIRWISE(WARPWRIGHT_DECLARE)
WARPWRIGHT_LOGICAL(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE

inline Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha = 1) { return a.add(b, alpha); }
inline Tensor add(const Tensor& a, const Scalar& b, const Scalar& alpha = 1) { return a.add(b, alpha); }
inline Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha = 1) { return a.sub(b, alpha); }
inline Tensor sub(const Tensor& a, const Scalar& b, const Scalar& alpha = 1) { return a.sub(b, alpha); }
inline Tensor mul(const Tensor& a, const Tensor& b) { return a.mul(b); }
inline Tensor mul(const Tensor& a, const Scalar& b) { return a.mul(b); }
inline Tensor div(const Tensor& a, const Tensor& b) { return a.div(b); }
inline Tensor div(const Tensor& a, const Scalar& b) { return a.div(b); }
inline Tensor pow(const Tensor& a, const Tensor& b) { return a.pow(b); }
inline Tensor pow(const Tensor& a, const Scalar& b) { return a.pow(b); }
inline Tensor fmod(const Tensor& a, const Scalar& b) { return a.fmod(b); }
inline Tensor remainder(const Tensor& a, const Scalar& b) { return a.remainder(b); }
inline Tensor lerp(const Tensor& a, const Tensor& b, const Scalar& weight) { return a.lerp(b, weight); }
inline Tensor addcmul(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& value = 1) {
  return self.addcmul(a, b, value);
}
inline Tensor addcdiv(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& value = 1) {
  return self.addcdiv(a, b, value);
}
inline Tensor& add_out(Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha = 1) {
  return out.copy_(a.add(b, alpha));
}
inline Tensor& mul_out(Tensor& out, const Tensor& a, const Tensor& b) { return out.copy_(a.mul(b)); }
inline Tensor clamp(const Tensor& self, const warpwright::Maybe<Scalar>& low,
                    const warpwright::Maybe<Scalar>& high = std::nullopt) {
  return self.clamp(low, high);
}
inline Tensor clamp_min(const Tensor& self, const Scalar& low) { return self.clamp_min(low); }
inline Tensor clamp_max(const Tensor& self, const Scalar& high) { return self.clamp_max(high); }
inline Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) { return a.where(condition, b); }
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b);
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b);
inline Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return self.masked_fill(mask, value);
}
#ifndef WARPWRIGHT_LEAN_STANDARD
Tensor gelu(const Tensor& self, std::string_view approximate = "none");
#else
Tensor gelu(const Tensor& self);
#endif
Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope = 0.01);
Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1);
Tensor hardtanh(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1);
Tensor softplus(const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20);
Tensor glu(const Tensor& self, int64_t dim = -1);
Tensor dropout(const Tensor& self, double p, bool train);
inline Tensor softmax(const Tensor& self, int64_t dim, OptionalType dtype = std::nullopt) {
  return self.softmax(dim, dtype);
}
inline Tensor log_softmax(const Tensor& self, int64_t dim, OptionalType dtype = std::nullopt) {
  return self.log_softmax(dim, dtype);
}
Tensor _softmax(const Tensor& self, int64_t dim, bool half_to_float);
inline Tensor cumsum(const Tensor& self, int64_t dim, OptionalType dtype = std::nullopt) {
  return self.cumsum(dim, dtype);
}
inline Tensor cumprod(const Tensor& self, int64_t dim, OptionalType dtype = std::nullopt) {
  return self.cumprod(dim, dtype);
}

// Reductions.
inline Tensor sum(const Tensor& self, OptionalType dtype = std::nullopt) { return self.sum(dtype); }
inline Tensor sum(const Tensor& self, OptionalIntArrayRef dims, bool keepdim = false, OptionalType dtype = {}) {
  return self.sum(dims, keepdim, dtype);
}
inline Tensor mean(const Tensor& self, OptionalType dtype = std::nullopt) { return self.mean(dtype); }
inline Tensor mean(const Tensor& self, OptionalIntArrayRef dims, bool keepdim = false, OptionalType dtype = {}) {
  return self.mean(dims, keepdim, dtype);
}
inline Tensor prod(const Tensor& self) { return self.prod(); }
inline Tensor prod(const Tensor& self, int64_t dim, bool keepdim = false) { return self.prod(dim, keepdim); }
inline Tensor max(const Tensor& self) { return self.max(); }
inline Tensor max(const Tensor& a, const Tensor& b) { return a.maximum(b); }
inline std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false) {
  return self.max(dim, keepdim);
}
inline Tensor min(const Tensor& self) { return self.min(); }
inline Tensor min(const Tensor& a, const Tensor& b) { return a.minimum(b); }
inline std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false) {
  return self.min(dim, keepdim);
}
inline Tensor amax(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false) { return self.amax(dims, keepdim); }
inline Tensor amin(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false) { return self.amin(dims, keepdim); }
inline Tensor argmax(const Tensor& self, warpwright::Maybe<int64_t> dim = {}, bool keepdim = false) {
  return self.argmax(dim, keepdim);
}
inline Tensor argmin(const Tensor& self, warpwright::Maybe<int64_t> dim = {}, bool keepdim = false) {
  return self.argmin(dim, keepdim);
}
inline Tensor all(const Tensor& self) { return self.all(); }
inline Tensor any(const Tensor& self) { return self.any(); }
inline Tensor var(const Tensor& self, bool unbiased = true) { return self.var(unbiased); }
inline Tensor var(const Tensor& self, OptionalIntArrayRef dims, bool unbiased, bool keepdim = false) {
  return self.var(dims, unbiased, keepdim);
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, OptionalIntArrayRef dims, bool unbiased, bool keepdim = false);
inline Tensor std(const Tensor& self, bool unbiased = true) { return self.std(unbiased); }
inline Tensor std(const Tensor& self, OptionalIntArrayRef dims, bool unbiased, bool keepdim = false) {
  return self.std(dims, unbiased, keepdim);
}
inline Tensor norm(const Tensor& self, const Scalar& p = 2) { return self.norm(p); }
inline Tensor norm(const Tensor& self, const warpwright::Maybe<Scalar>& p, IntArrayRef dims, bool keepdim = false) {
  return self.norm(p, dims, keepdim);
}
inline Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim = false) {
  return self.logsumexp(dims, keepdim);
}
inline std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true,
                                       bool sorted = true) {
  return self.topk(k, dim, largest, sorted);
}
inline std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1, bool descending = false) {
  return self.sort(dim, descending);
}
inline Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false) {
  return self.argsort(dim, descending);
}

// Products.
inline Tensor matmul(const Tensor& a, const Tensor& b) { return a.matmul(b); }
inline Tensor mm(const Tensor& a, const Tensor& b) { return a.mm(b); }
inline Tensor bmm(const Tensor& a, const Tensor& b) { return a.bmm(b); }
inline Tensor mv(const Tensor& a, const Tensor& b) { return a.mv(b); }
inline Tensor dot(const Tensor& a, const Tensor& b) { return a.dot(b); }
inline Tensor outer(const Tensor& a, const Tensor& b) { return a.outer(b); }
inline Tensor addmm(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta = 1,
                    const Scalar& alpha = 1) {
  return self.addmm(a, b, beta, alpha);
}
inline Tensor baddbmm(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta = 1,
                      const Scalar& alpha = 1) {
  return self.baddbmm(a, b, beta, alpha);
}
Tensor& matmul_out(Tensor& out, const Tensor& a, const Tensor& b);
Tensor& mm_out(Tensor& out, const Tensor& a, const Tensor& b);
Tensor& bmm_out(Tensor& out, const Tensor& a, const Tensor& b);
Tensor& addmm_out(Tensor& out, const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta = 1,
                  const Scalar& alpha = 1);
Tensor linear(const Tensor& input, const Tensor& weight, const OptionalTensor& bias = std::nullopt);

// Layers.
#define WARPWRIGHT_CONVOLUTION(N)                                                                                   \
  Tensor conv##N##d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias = std::nullopt,           \
                    IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1); \
  Tensor conv_transpose##N##d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias = std::nullopt, \
                              IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0,      \
                              int64_t groups = 1, IntArrayRef dilation = 1);                                        \
  Tensor max_pool##N##d(const Tensor& self, IntArrayRef kernel, IntArrayRef stride = {}, IntArrayRef padding = 0,   \
                        IntArrayRef dilation = 1, bool ceil_mode = false);                                          \
  Tensor adaptive_avg_pool##N##d(const Tensor& self, IntArrayRef output);
WARPWRIGHT_CONVOLUTION(1)
WARPWRIGHT_CONVOLUTION(2)
WARPWRIGHT_CONVOLUTION(3)
#undef WARPWRIGHT_CONVOLUTION
Tensor convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                   int64_t groups);
std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad_output, const Tensor& input,
                                                        const Tensor& weight, OptionalIntArrayRef bias_sizes,
                                                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                                        bool transposed, IntArrayRef output_padding, int64_t groups,
                                                        std::array<bool, 3> output_mask);
Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel, IntArrayRef stride = {}, IntArrayRef padding = 0,
                  bool ceil_mode = false, bool count_include_pad = true);
Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel, IntArrayRef stride = {}, IntArrayRef padding = 0,
                  bool ceil_mode = false, bool count_include_pad = true,
                  warpwright::Maybe<int64_t> divisor_override = std::nullopt);
Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel, IntArrayRef stride = {}, IntArrayRef padding = 0,
                  bool ceil_mode = false, bool count_include_pad = true,
                  warpwright::Maybe<int64_t> divisor_override = std::nullopt);
Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value = 0);
Tensor batch_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                  const OptionalTensor& running_mean, const OptionalTensor& running_var, bool training, double momentum,
                  double eps, bool cudnn_enabled);
Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const OptionalTensor& weight = std::nullopt,
                  const OptionalTensor& bias = std::nullopt, double eps = 1e-5, bool cudnn_enable = true);
Tensor group_norm(const Tensor& input, int64_t groups, const OptionalTensor& weight = std::nullopt,
                  const OptionalTensor& bias = std::nullopt, double eps = 1e-5, bool cudnn_enabled = true);
Tensor instance_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                     const OptionalTensor& running_mean, const OptionalTensor& running_var, bool use_input_stats,
                     double momentum, double eps, bool cudnn_enabled);
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const OptionalTensor& mask = std::nullopt, double dropout_p = 0.0,
                                    bool is_causal = false, warpwright::Maybe<double> scale = std::nullopt);

// Joining, picking and moving.
Tensor cat(TensorList tensors, int64_t dim = 0);
inline Tensor concat(TensorList tensors, int64_t dim = 0) { return cat(tensors, dim); }
Tensor stack(TensorList tensors, int64_t dim = 0);
Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1, bool scale_grad_by_freq = false,
                 bool sparse = false);
inline Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return self.index_select(dim, index);
}
inline Tensor gather(const Tensor& self, int64_t dim, const Tensor& index) { return self.gather(dim, index); }
inline Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  return self.scatter_add(dim, index, source);
}
inline Tensor reshape(const Tensor& self, IntArrayRef shape) { return self.reshape(shape); }
inline Tensor flatten(const Tensor& self, int64_t start = 0, int64_t end = -1) { return self.flatten(start, end); }
inline Tensor squeeze(const Tensor& self) { return self.squeeze(); }
inline Tensor squeeze(const Tensor& self, int64_t dim) { return self.squeeze(dim); }
inline Tensor unsqueeze(const Tensor& self, int64_t dim) { return self.unsqueeze(dim); }
inline Tensor transpose(const Tensor& self, int64_t a, int64_t b) { return self.transpose(a, b); }
inline Tensor permute(const Tensor& self, IntArrayRef order) { return self.permute(order); }
inline Tensor t(const Tensor& self) { return self.t(); }
inline Tensor select(const Tensor& self, int64_t dim, int64_t index) { return self.select(dim, index); }
inline Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return self.narrow(dim, start, length);
}
inline Tensor clone(const Tensor& self) { return self.clone(); }
inline Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims = {}) { return self.roll(shifts, dims); }
inline Tensor flip(const Tensor& self, IntArrayRef dims) { return self.flip(dims); }
inline Tensor tril(const Tensor& self, int64_t diagonal = 0) { return self.tril(diagonal); }
inline Tensor triu(const Tensor& self, int64_t diagonal = 0) { return self.triu(diagonal); }
inline std::vector<Tensor> split(const Tensor& self, int64_t size, int64_t dim = 0) { return self.split(size, dim); }
inline std::vector<Tensor> split(const Tensor& self, IntArrayRef sizes, int64_t dim = 0) {
  return self.split_with_sizes(sizes, dim);
}
inline std::vector<Tensor> chunk(const Tensor& self, int64_t count, int64_t dim = 0) { return self.chunk(count, dim); }
inline std::vector<Tensor> unbind(const Tensor& self, int64_t dim = 0) { return self.unbind(dim); }
inline int64_t size(const Tensor& self, int64_t dim) { return self.size(dim); }
inline int64_t numel(const Tensor& self) { return self.numel(); }

namespace native {}

}  // namespace at

// torch:: is at:: seen through a wrapper; names of its own are added elsewhere.
namespace torch {
using namespace at;
}

#endif
