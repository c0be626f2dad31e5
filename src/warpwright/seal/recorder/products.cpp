// Matrix products, convolutions, pooling, normalisation and attention.
#include "impl.h"

namespace warpwright {

at::Tensor produce(const char* name, Shape shape, const Tensors& inputs, Object options) {
  at::Tensor out = fresh(std::move(shape), inputs[0].scalar_type());
  library(name, inputs, {out}, std::move(options));
  return out;
}

namespace {

at::Tensor defined_or_none(const std::optional<at::Tensor>& tensor) { return tensor.value_or(at::Tensor()); }

void require_inner(int64_t a, int64_t b, const char* name, const at::Tensor& x, const at::Tensor& y) {
  TORCH_CHECK(a == b, name, ": shapes cannot be multiplied: ", x.sizes(), " and ", y.sizes());
}
void require_same_type(const at::Tensor& a, const at::Tensor& b, const char* name) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), name, ": expected operands to have the same dtype, but got ",
              a.dtype(), " and ", b.dtype());
}

Shape mm_shape(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2, "mm: both operands must be matrices");
  require_inner(a.size(1), b.size(0), "mm", a, b);
  require_same_type(a, b, "mm");
  return {a.size(0), b.size(1)};
}
Shape bmm_shape(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.dim() == 3 && b.dim() == 3 && a.size(0) == b.size(0), "bmm: both operands must be batches of matrices");
  require_inner(a.size(2), b.size(1), "bmm", a, b);
  require_same_type(a, b, "bmm");
  return {a.size(0), a.size(1), b.size(2)};
}

// Vectors act as a row on the left and a column on the right; leading dimensions broadcast.
Shape matmul_shape(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.dim() > 0 && b.dim() > 0, "both arguments to matmul need to be at least 1D");
  require_inner(a.size(-1), b.size(b.dim() > 1 ? -2 : -1), "matmul", a, b);
  require_same_type(a, b, "matmul");
  c10::IntArrayRef lead_a = a.sizes().slice(0, std::max<int64_t>(a.dim() - 2, 0));
  c10::IntArrayRef lead_b = b.sizes().slice(0, std::max<int64_t>(b.dim() - 2, 0));
  if (lead_a.size() < lead_b.size()) std::swap(lead_a, lead_b);
  Shape shape = lead_a.vec();
  for (size_t i = 0; i < lead_b.size(); ++i) {
    int64_t& size = shape[lead_a.size() - lead_b.size() + i];
    TORCH_CHECK(size == lead_b[i] || size == 1 || lead_b[i] == 1, "matmul: batch dimensions do not broadcast");
    if (size == 1) size = lead_b[i];
  }
  if (a.dim() > 1) shape.push_back(a.size(-2));
  if (b.dim() > 1) shape.push_back(b.size(-1));
  return shape;
}

at::Tensor& produce_into(at::Tensor& out, const char* name, const Shape& shape, const Tensors& inputs,
                         Object options = {}) {
  TORCH_CHECK(out.sizes() == c10::IntArrayRef(shape), name, ": out has shape ", out.sizes(), ", expected ",
              c10::IntArrayRef(shape));
  library(name, inputs, {out}, std::move(options));
  return out;
}

Object scaled(const c10::Scalar& beta, const c10::Scalar& alpha) {
  return {{"beta", json_of(beta)}, {"alpha", json_of(alpha)}};
}

// A single number applies to all spatial dimensions.
Shape spatial(c10::IntArrayRef list, size_t dims) {
  TORCH_CHECK(list.size() == 1 || list.size() == dims, "expected ", dims, " values, got ", list.size());
  return list.size() == dims ? list.vec() : Shape(dims, list[0]);
}

struct Windowing {
  Shape kernel, stride, padding, dilation;
  bool ceil_mode = false;
};

int64_t window_count(int64_t size, const Windowing& w, size_t d) {
  int64_t room = size + 2 * w.padding[d] - w.dilation[d] * (w.kernel[d] - 1) - 1;
  int64_t count = (room + (w.ceil_mode ? w.stride[d] - 1 : 0)) / w.stride[d] + 1;
  // The last window must start inside the input or its left padding.
  if (w.ceil_mode && (count - 1) * w.stride[d] >= size + w.padding[d]) --count;
  TORCH_CHECK(room >= 0 && count > 0, "Kernel size can't be greater than actual input size");
  return count;
}

// Inputs may come without a batch dimension.
Shape windowed(const at::Tensor& input, size_t dims, int64_t channels, const Windowing& w) {
  size_t lead = static_cast<size_t>(input.dim()) - dims;
  TORCH_CHECK(lead == 1 || lead == 2, "expected ", dims + 1, "D or ", dims + 2, "D input, got ", input.sizes());
  Shape shape = input.sizes().vec();
  shape[lead - 1] = channels;
  for (size_t d = 0; d < dims; ++d) shape[lead + d] = window_count(shape[lead + d], w, d);
  return shape;
}

at::Tensor convolve(const std::string& name, size_t dims, const at::Tensor& input, const at::Tensor& weight,
                    const std::optional<at::Tensor>& bias, c10::IntArrayRef stride, c10::IntArrayRef padding,
                    c10::IntArrayRef dilation, int64_t groups) {
  TORCH_CHECK(weight.dim() == static_cast<int64_t>(dims) + 2, name, ": weight must have ", dims + 2, " dimensions");
  int64_t channels = input.size(-static_cast<int64_t>(dims) - 1);
  TORCH_CHECK(channels == weight.size(1) * groups, "Given groups=", groups, ", weight of size ", weight.sizes(),
              ", expected input", input.sizes(), " to have ", weight.size(1) * groups, " channels, but got ", channels);
  Windowing w{weight.sizes().slice(2).vec(), spatial(stride, dims), spatial(padding, dims), spatial(dilation, dims)};
  return produce(name.c_str(), windowed(input, dims, weight.size(0), w), {input, weight, defined_or_none(bias)},
                 {{"stride", json_of(w.stride)},
                  {"padding", json_of(w.padding)},
                  {"dilation", json_of(w.dilation)},
                  {"groups", groups}});
}

at::Tensor convolve_transposed(const std::string& name, size_t dims, const at::Tensor& input, const at::Tensor& weight,
                               const std::optional<at::Tensor>& bias, c10::IntArrayRef stride, c10::IntArrayRef padding,
                               c10::IntArrayRef output_padding, int64_t groups, c10::IntArrayRef dilation) {
  Shape s = spatial(stride, dims), p = spatial(padding, dims), o = spatial(output_padding, dims),
        d = spatial(dilation, dims);
  size_t lead = static_cast<size_t>(input.dim()) - dims;
  TORCH_CHECK(lead == 1 || lead == 2, name, ": unexpected input shape ", input.sizes());
  TORCH_CHECK(input.size(lead - 1) == weight.size(0), name, ": expected ", weight.size(0), " input channels");
  Shape shape = input.sizes().vec();
  shape[lead - 1] = weight.size(1) * groups;
  for (size_t i = 0; i < dims; ++i)
    shape[lead + i] = (shape[lead + i] - 1) * s[i] - 2 * p[i] + d[i] * (weight.size(2 + i) - 1) + o[i] + 1;
  return produce(name.c_str(), shape, {input, weight, defined_or_none(bias)},
                 {{"stride", json_of(s)},
                  {"padding", json_of(p)},
                  {"output_padding", json_of(o)},
                  {"groups", groups},
                  {"dilation", json_of(d)}});
}

at::Tensor pool(const char* name, size_t dims, const at::Tensor& self, const Windowing& w, Object extra) {
  size_t lead = static_cast<size_t>(self.dim()) - dims;
  Object options{{"kernel_size", json_of(w.kernel)}, {"stride", json_of(w.stride)}, {"padding", json_of(w.padding)}};
  options.insert(options.end(), extra.begin(), extra.end());
  return produce(name, windowed(self, dims, self.size(lead - 1), w), {self}, std::move(options));
}

Windowing pooling(size_t dims, c10::IntArrayRef kernel, c10::IntArrayRef stride, c10::IntArrayRef padding,
                  c10::IntArrayRef dilation, bool ceil_mode) {
  return {spatial(kernel, dims), spatial(stride.empty() ? kernel : stride, dims), spatial(padding, dims),
          spatial(dilation, dims), ceil_mode};
}

at::Tensor average(const char* name, size_t dims, const at::Tensor& self, const Windowing& w, bool count_padding,
                   Object extra = {}) {
  Object options{{"ceil_mode", w.ceil_mode}, {"count_include_pad", count_padding}};
  options.insert(options.end(), extra.begin(), extra.end());
  return pool(name, dims, self, w, std::move(options));
}

Json json_of_optional(const std::optional<int64_t>& value) { return value ? Json(*value) : Json(); }

}  // namespace
}  // namespace warpwright

namespace at {

using namespace warpwright;

Tensor Tensor::mm(const Tensor& other) const { return produce("mm", mm_shape(*this, other), {*this, other}); }
Tensor Tensor::bmm(const Tensor& other) const { return produce("bmm", bmm_shape(*this, other), {*this, other}); }
Tensor Tensor::matmul(const Tensor& other) const {
  return produce("matmul", matmul_shape(*this, other), {*this, other});
}
Tensor Tensor::mv(const Tensor& vector) const { return produce("mv", matmul_shape(*this, vector), {*this, vector}); }
Tensor Tensor::dot(const Tensor& other) const { return produce("dot", matmul_shape(*this, other), {*this, other}); }
Tensor Tensor::outer(const Tensor& other) const { return produce("outer", {numel(), other.numel()}, {*this, other}); }
Tensor Tensor::addmm(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) const {
  return produce("addmm", mm_shape(a, b), {*this, a, b}, scaled(beta, alpha));
}
Tensor& Tensor::addmm_(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) const {
  return produce_into(const_cast<Tensor&>(*this), "addmm", mm_shape(a, b), {*this, a, b}, scaled(beta, alpha));
}
Tensor Tensor::baddbmm(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) const {
  return produce("baddbmm", bmm_shape(a, b), {*this, a, b}, scaled(beta, alpha));
}
Tensor& matmul_out(Tensor& out, const Tensor& a, const Tensor& b) {
  return produce_into(out, "matmul", matmul_shape(a, b), {a, b});
}
Tensor& mm_out(Tensor& out, const Tensor& a, const Tensor& b) {
  return produce_into(out, "mm", mm_shape(a, b), {a, b});
}
Tensor& bmm_out(Tensor& out, const Tensor& a, const Tensor& b) {
  return produce_into(out, "bmm", bmm_shape(a, b), {a, b});
}
Tensor& addmm_out(Tensor& out, const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta,
                  const Scalar& alpha) {
  return produce_into(out, "addmm", mm_shape(a, b), {self, a, b}, scaled(beta, alpha));
}

Tensor linear(const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
  TORCH_CHECK(weight.dim() == 2, "linear: weight must be a matrix");
  require_inner(input.size(-1), weight.size(1), "linear", input, weight);
  Shape shape = input.sizes().vec();
  shape.back() = weight.size(0);
  return produce("linear", shape, {input, weight, defined_or_none(bias)});
}

#define WARPWRIGHT_LAYERS(N, TRANSPOSED)                                                                               \
  Tensor conv##N##d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntArrayRef stride,         \
                    IntArrayRef padding, IntArrayRef dilation, int64_t groups) {                                       \
    return convolve("conv" #N "d", N, input, weight, bias, stride, padding, dilation, groups);                         \
  }                                                                                                                    \
  Tensor conv_transpose##N##d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias,                   \
                              IntArrayRef stride, IntArrayRef padding, IntArrayRef output_padding, int64_t groups,     \
                              IntArrayRef dilation) {                                                                  \
    return convolve_transposed(TRANSPOSED, N, input, weight, bias, stride, padding, output_padding, groups, dilation); \
  }                                                                                                                    \
  Tensor max_pool##N##d(const Tensor& self, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,               \
                        IntArrayRef dilation, bool ceil_mode) {                                                        \
    Windowing w = pooling(N, kernel, stride, padding, dilation, ceil_mode);                                            \
    return pool("max_pool" #N "d", N, self, w, {{"dilation", json_of(w.dilation)}, {"ceil_mode", ceil_mode}});         \
  }                                                                                                                    \
  Tensor adaptive_avg_pool##N##d(const Tensor& self, IntArrayRef output) {                                             \
    Shape size = spatial(output, N), shape = self.sizes().vec();                                                       \
    std::copy(size.begin(), size.end(), shape.end() - N);                                                              \
    return produce("adaptive_avg_pool" #N "d", shape, {self}, {{"output_size", json_of(size)}});                       \
  }
WARPWRIGHT_LAYERS(1, "conv_transpose1d")
WARPWRIGHT_LAYERS(2, "conv_transpose2d.input")
WARPWRIGHT_LAYERS(3, "conv_transpose3d.input")
#undef WARPWRIGHT_LAYERS

Tensor convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                   int64_t groups) {
  switch (weight.dim() + 10 * transposed) {
    case 3: return conv1d(input, weight, bias, stride, padding, dilation, groups);
    case 4: return conv2d(input, weight, bias, stride, padding, dilation, groups);
    case 5: return conv3d(input, weight, bias, stride, padding, dilation, groups);
    case 13: return conv_transpose1d(input, weight, bias, stride, padding, output_padding, groups, dilation);
    case 14: return conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation);
    case 15: return conv_transpose3d(input, weight, bias, stride, padding, output_padding, groups, dilation);
    default: TORCH_CHECK(false, "convolution: unexpected weight shape ", weight.sizes());
  }
  return Tensor();
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad_output, const Tensor& input,
                                                        const Tensor& weight, OptionalIntArrayRef bias_sizes,
                                                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                                        bool transposed, IntArrayRef output_padding, int64_t groups,
                                                        std::array<bool, 3> output_mask) {
  const size_t dims = static_cast<size_t>(weight.dim()) - 2;
  TORCH_CHECK(grad_output.dim() == weight.dim() && input.dim() == weight.dim(), "convolution_backward: got ",
              grad_output.sizes(), ", ", input.sizes(), " and ", weight.sizes());
  const Shape shapes[] = {input.sizes().vec(), weight.sizes().vec(), {grad_output.size(1)}};
  std::array<Tensor, 3> found;
  warpwright::Tensors outputs;
  for (size_t i = 0; i < 3; ++i)
    if (output_mask[i]) outputs.push_back(found[i] = fresh(shapes[i], grad_output.scalar_type()));
  library("convolution_backward", {grad_output, input, weight}, outputs,
          {{"bias_sizes", bias_sizes ? json_of(*bias_sizes) : Json()},
           {"stride", json_of(spatial(stride, dims))},
           {"padding", json_of(spatial(padding, dims))},
           {"dilation", json_of(spatial(dilation, dims))},
           {"transposed", transposed},
           {"output_padding", json_of(spatial(output_padding, dims))},
           {"groups", groups},
           {"output_mask", warpwright::Array(output_mask.begin(), output_mask.end())}});
  return {found[0], found[1], found[2]};
}

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_padding) {
  return average("avg_pool1d", 1, self, pooling(1, kernel, stride, padding, 1, ceil_mode), count_padding);
}
Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_padding, std::optional<int64_t> divisor) {
  return average("avg_pool2d", 2, self, pooling(2, kernel, stride, padding, 1, ceil_mode), count_padding,
                 {{"divisor_override", json_of_optional(divisor)}});
}
Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_padding, std::optional<int64_t> divisor) {
  return average("avg_pool3d", 3, self, pooling(3, kernel, stride, padding, 1, ceil_mode), count_padding,
                 {{"divisor_override", json_of_optional(divisor)}});
}

Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  TORCH_CHECK(pad.size() % 2 == 0 && pad.size() / 2 <= static_cast<size_t>(self.dim()), "invalid padding ", pad);
  Shape shape = self.sizes().vec();
  for (size_t i = 0; i < pad.size(); i += 2) shape[shape.size() - 1 - i / 2] += pad[i] + pad[i + 1];
  return produce("constant_pad_nd", shape, {self}, {{"pad", json_of(pad)}, {"value", json_of(value)}});
}

Tensor batch_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                  const OptionalTensor& mean, const OptionalTensor& var, bool training, double momentum, double eps,
                  bool cudnn) {
  if (training && mean && mean->defined()) unsupported("at::batch_norm that updates running statistics");
  return produce("batch_norm", input.sizes().vec(),
                 {input, defined_or_none(weight), defined_or_none(bias), defined_or_none(mean), defined_or_none(var)},
                 {{"training", training}, {"momentum", momentum}, {"eps", eps}, {"cudnn_enabled", cudnn}});
}
Tensor instance_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                     const OptionalTensor& mean, const OptionalTensor& var, bool use_input_stats, double momentum,
                     double eps, bool cudnn) {
  if (use_input_stats && mean && mean->defined()) unsupported("at::instance_norm that updates running statistics");
  return produce(
      "instance_norm", input.sizes().vec(),
      {input, defined_or_none(weight), defined_or_none(bias), defined_or_none(mean), defined_or_none(var)},
      {{"use_input_stats", use_input_stats}, {"momentum", momentum}, {"eps", eps}, {"cudnn_enabled", cudnn}});
}
Tensor layer_norm(const Tensor& input, IntArrayRef shape, const OptionalTensor& weight, const OptionalTensor& bias,
                  double eps, bool cudnn) {
  TORCH_CHECK(
      shape.size() <= static_cast<size_t>(input.dim()) && input.sizes().slice(input.dim() - shape.size()) == shape,
      "Given normalized_shape=", shape, ", expected input with matching last dimensions, but got ", input.sizes());
  return produce("layer_norm", input.sizes().vec(), {input, defined_or_none(weight), defined_or_none(bias)},
                 {{"normalized_shape", json_of(shape)}, {"eps", eps}, {"cudnn_enable", cudnn}});
}
Tensor group_norm(const Tensor& input, int64_t groups, const OptionalTensor& weight, const OptionalTensor& bias,
                  double eps, bool cudnn) {
  TORCH_CHECK(groups > 0 && input.size(1) % groups == 0,
              "Expected number of channels in input to be divisible by num_groups");
  return produce("group_norm", input.sizes().vec(), {input, defined_or_none(weight), defined_or_none(bias)},
                 {{"num_groups", groups}, {"eps", eps}, {"cudnn_enabled", cudnn}});
}
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const OptionalTensor& mask, double dropout, bool causal,
                                    std::optional<double> scale) {
  Shape shape = query.sizes().vec();
  shape.back() = value.size(-1);
  return produce("scaled_dot_product_attention", shape, {query, key, value, defined_or_none(mask)},
                 {{"dropout_p", dropout}, {"is_causal", causal}, {"scale", scale ? Json(*scale) : Json()}});
}

}  // namespace at
