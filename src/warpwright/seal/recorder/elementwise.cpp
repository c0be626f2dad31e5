// Element-by-element operations: broadcasting, type promotion and one node each.
#include "impl.h"

namespace warpwright {
namespace {

enum class Result { SAME, FLOAT, BOOL };

c10::ScalarType result_of(c10::ScalarType type, Result result) {
  if (result == Result::BOOL) return c10::kBool;
  return result == Result::FLOAT && c10::isIntegralType(type, true) ? c10::kFloat : type;
}

Shape broadcast(c10::IntArrayRef a, c10::IntArrayRef b) {
  if (a.size() < b.size()) std::swap(a, b);
  Shape shape = a.vec();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t& size = shape[a.size() - b.size() + i];
    TORCH_CHECK(size == b[i] || size == 1 || b[i] == 1, "The size of tensor a (", size,
                ") must match the size of tensor b (", b[i], ") at non-singleton dimension ", a.size() - b.size() + i);
    if (size == 1) size = b[i];
  }
  return shape;
}

int category(c10::ScalarType t) { return c10::isFloatingType(t) ? 2 : c10::isIntegralType(t) ? 1 : 0; }

// A scalar or zero-dimensional tensor determines the result type only if its kind is higher: float over int over bool.
c10::ScalarType yielding(c10::ScalarType strong, c10::ScalarType weak, c10::ScalarType weak_default) {
  return category(weak) > category(strong) ? weak_default : strong;
}
c10::ScalarType promoted(const at::Tensor& a, const at::Tensor& b) {
  c10::ScalarType x = a.scalar_type(), y = b.scalar_type();
  if ((a.dim() == 0) == (b.dim() == 0)) return c10::promoteTypes(x, y);
  return a.dim() == 0 ? yielding(y, x, x) : yielding(x, y, y);
}
c10::ScalarType promoted(const at::Tensor& a, const c10::Scalar& b) {
  return yielding(a.scalar_type(), b.type(), b.isFloatingPoint() ? c10::kFloat : b.type());
}

// Same strides as the operands when they agree, contiguous otherwise.
at::Tensor room_for(const Shape& shape, const std::vector<at::Tensor>& operands, c10::ScalarType dtype) {
  for (const at::Tensor& operand : operands)
    if (operand.sizes() != c10::IntArrayRef(shape) || operand.strides() != operands[0].strides())
      return fresh(shape, dtype);
  return fresh_like(operands[0], dtype);
}

at::Tensor unary(const char* name, const at::Tensor& self, Result result, Object options = {}) {
  at::Tensor out = fresh_like(self, result_of(self.scalar_type(), result));
  library(name, {self}, {out}, std::move(options));
  return out;
}
at::Tensor& unary_in_place(const char* name, const at::Tensor& self, Object options = {}) {
  library(name, {self}, {self}, std::move(options));
  return const_cast<at::Tensor&>(self);
}

at::Tensor binary(const char* name, const at::Tensor& a, const at::Tensor& b, Result result, Object options = {}) {
  Shape shape = broadcast(a.sizes(), b.sizes());
  // A number on the CPU may take part in arithmetic on the device.
  if (a.is_cuda() && !b.is_cuda() && b.dim() == 0) return binary(name, a, b.to(a.device()), result, std::move(options));
  at::Tensor out = room_for(shape, {a, b}, result_of(promoted(a, b), result));
  library(name, {a, b}, {out}, std::move(options));
  return out;
}
at::Tensor binary(const char* name, const at::Tensor& a, const c10::Scalar& b, Result result, Object options = {}) {
  at::Tensor out = fresh_like(a, result_of(promoted(a, b), result));
  options.insert(options.begin(), {"other", json_of(b)});
  library(name, {a}, {out}, std::move(options));
  return out;
}
at::Tensor& binary_in_place(const char* name, const at::Tensor& a, const at::Tensor& b, Object options = {}) {
  TORCH_CHECK(c10::IntArrayRef(broadcast(a.sizes(), b.sizes())) == a.sizes(), "output with shape ", a.sizes(),
              " doesn't match the broadcast shape");
  library(name, {a, b}, {a}, std::move(options));
  return const_cast<at::Tensor&>(a);
}
at::Tensor& binary_in_place(const char* name, const at::Tensor& a, const c10::Scalar& b, Object options = {}) {
  options.insert(options.begin(), {"other", json_of(b)});
  return unary_in_place(name, a, std::move(options));
}

Object alpha_of(const c10::Scalar& alpha) { return {{"alpha", json_of(alpha)}}; }

}  // namespace
}  // namespace warpwright

namespace at {

using namespace warpwright;

#define WARPWRIGHT_DEFINE(NAME, RESULT)                                       \
  Tensor Tensor::NAME() const { return unary(#NAME, *this, Result::RESULT); } \
  Tensor& Tensor::NAME##_() const { return unary_in_place(#NAME, *this); }
WARPWRIGHT_UNARY_METHODS(WARPWRIGHT_DEFINE)
#undef WARPWRIGHT_DEFINE
#define WARPWRIGHT_DEFINE(NAME, RESULT)                                          \
  Tensor NAME(const Tensor& self) { return unary(#NAME, self, Result::RESULT); } \
  Tensor& NAME##_(Tensor& self) { return unary_in_place(#NAME, self); }
WARPWRIGHT_UNARY_FUNCTIONS(WARPWRIGHT_DEFINE)
#undef WARPWRIGHT_DEFINE
#define WARPWRIGHT_DEFINE(NAME) \
  Tensor Tensor::NAME() const { return unary(#NAME, *this, Result::BOOL); }
WARPWRIGHT_UNARY_TESTS(WARPWRIGHT_DEFINE)
#undef WARPWRIGHT_DEFINE
#define WARPWRIGHT_DEFINE(NAME, OP)                                                                              \
  Tensor Tensor::NAME(const Tensor& other) const { return binary(#NAME ".Tensor", *this, other, Result::BOOL); } \
  Tensor Tensor::NAME(const Scalar& other) const { return binary(#NAME ".Scalar", *this, other, Result::BOOL); }
WARPWRIGHT_COMPARISONS(WARPWRIGHT_DEFINE)
#undef WARPWRIGHT_DEFINE
#define WARPWRIGHT_DEFINE(NAME, OP)                                                                              \
  Tensor Tensor::NAME(const Tensor& other) const { return binary(#NAME ".Tensor", *this, other, Result::SAME); } \
  Tensor Tensor::NAME(const Scalar& other) const { return binary(#NAME ".Scalar", *this, other, Result::SAME); }
WARPWRIGHT_BITWISE(WARPWRIGHT_DEFINE)
#undef WARPWRIGHT_DEFINE
#define WARPWRIGHT_DEFINE(NAME) \
  Tensor Tensor::NAME(const Tensor& other) const { return binary(#NAME, *this, other, Result::SAME); }
WARPWRIGHT_PAIRWISE(WARPWRIGHT_DEFINE)
#undef WARPWRIGHT_DEFINE
#define WARPWRIGHT_DEFINE(NAME) \
  Tensor Tensor::NAME(const Tensor& other) const { return binary(#NAME, *this, other, Result::BOOL); }
WARPWRIGHT_LOGICAL(WARPWRIGHT_DEFINE)
#undef WARPWRIGHT_DEFINE

#define WARPWRIGHT_DEFINE(NAME)                                                  \
  Tensor Tensor::NAME(const Tensor& other, const Scalar& alpha) const {          \
    return binary(#NAME ".Tensor", *this, other, Result::SAME, alpha_of(alpha)); \
  }                                                                              \
  Tensor Tensor::NAME(const Scalar& other, const Scalar& alpha) const {          \
    return binary(#NAME ".Scalar", *this, other, Result::SAME, alpha_of(alpha)); \
  }                                                                              \
  Tensor& Tensor::NAME##_(const Tensor& other, const Scalar& alpha) const {      \
    return binary_in_place(#NAME ".Tensor", *this, other, alpha_of(alpha));      \
  }                                                                              \
  Tensor& Tensor::NAME##_(const Scalar& other, const Scalar& alpha) const {      \
    return binary_in_place(#NAME ".Scalar", *this, other, alpha_of(alpha));      \
  }
WARPWRIGHT_DEFINE(add)
WARPWRIGHT_DEFINE(sub)
#undef WARPWRIGHT_DEFINE
#define WARPWRIGHT_DEFINE(NAME, RESULT)                                                                            \
  Tensor Tensor::NAME(const Tensor& other) const { return binary(#NAME ".Tensor", *this, other, Result::RESULT); } \
  Tensor Tensor::NAME(const Scalar& other) const { return binary(#NAME ".Scalar", *this, other, Result::RESULT); }
WARPWRIGHT_DEFINE(mul, SAME)
WARPWRIGHT_DEFINE(div, FLOAT)
WARPWRIGHT_DEFINE(remainder, SAME)
WARPWRIGHT_DEFINE(fmod, SAME)
#undef WARPWRIGHT_DEFINE
#define WARPWRIGHT_DEFINE(NAME)                                                                                 \
  Tensor& Tensor::NAME##_(const Tensor& other) const { return binary_in_place(#NAME ".Tensor", *this, other); } \
  Tensor& Tensor::NAME##_(const Scalar& other) const { return binary_in_place(#NAME ".Scalar", *this, other); }
WARPWRIGHT_DEFINE(mul)
WARPWRIGHT_DEFINE(div)
#undef WARPWRIGHT_DEFINE

Tensor Tensor::pow(const Tensor& exponent) const { return binary("pow.Tensor_Tensor", *this, exponent, Result::SAME); }
Tensor Tensor::pow(const Scalar& exponent) const {
  Tensor out = fresh_like(*this, promoted(*this, exponent));
  library("pow.Tensor_Scalar", {*this}, {out}, {{"exponent", json_of(exponent)}});
  return out;
}
Tensor& Tensor::pow_(const Scalar& exponent) const {
  return unary_in_place("pow.Tensor_Scalar", *this, {{"exponent", json_of(exponent)}});
}

namespace {
Tensor fused(const char* name, const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& value) {
  Shape shape = broadcast(self.sizes(), broadcast(a.sizes(), b.sizes()));
  Tensor out = room_for(shape, {self, a, b}, self.scalar_type());
  library(name, {self, a, b}, {out}, {{"value", json_of(value)}});
  return out;
}
Object limits(const std::optional<Scalar>& low, const std::optional<Scalar>& high) {
  return {{"min", json_of(low)}, {"max", json_of(high)}};
}
}  // namespace

Tensor Tensor::addcmul(const Tensor& a, const Tensor& b, const Scalar& value) const {
  return fused("addcmul", *this, a, b, value);
}
Tensor Tensor::addcdiv(const Tensor& a, const Tensor& b, const Scalar& value) const {
  return fused("addcdiv", *this, a, b, value);
}
Tensor& Tensor::addcmul_(const Tensor& a, const Tensor& b, const Scalar& value) const {
  library("addcmul", {*this, a, b}, {*this}, {{"value", json_of(value)}});
  return const_cast<Tensor&>(*this);
}
Tensor& Tensor::addcdiv_(const Tensor& a, const Tensor& b, const Scalar& value) const {
  library("addcdiv", {*this, a, b}, {*this}, {{"value", json_of(value)}});
  return const_cast<Tensor&>(*this);
}
Tensor Tensor::lerp(const Tensor& end, const Scalar& weight) const {
  return binary("lerp.Scalar", *this, end, Result::SAME, {{"weight", json_of(weight)}});
}
Tensor Tensor::clamp(const std::optional<Scalar>& low, const std::optional<Scalar>& high) const {
  return unary("clamp", *this, Result::SAME, limits(low, high));
}
Tensor& Tensor::clamp_(const std::optional<Scalar>& low, const std::optional<Scalar>& high) const {
  return unary_in_place("clamp", *this, limits(low, high));
}
Tensor Tensor::clamp_min(const Scalar& low) const { return clamp(low); }
Tensor Tensor::clamp_max(const Scalar& high) const { return clamp(std::nullopt, high); }
Tensor& Tensor::clamp_min_(const Scalar& low) const { return clamp_(low); }
Tensor& Tensor::clamp_max_(const Scalar& high) const { return clamp_(std::nullopt, high); }

Tensor Tensor::where(const Tensor& condition, const Tensor& other) const {
  Shape shape = broadcast(condition.sizes(), broadcast(sizes(), other.sizes()));
  Tensor out = fresh(shape, promoted(*this, other));
  library("where.self", {condition, *this, other}, {out});
  return out;
}
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b) {
  Tensor out = fresh(broadcast(condition.sizes(), a.sizes()), promoted(a, b));
  library("where.ScalarOther", {condition, a}, {out}, {{"other", json_of(b)}});
  return out;
}
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b) {
  Tensor out = fresh(broadcast(condition.sizes(), b.sizes()), promoted(b, a));
  library("where.ScalarSelf", {condition, b}, {out}, {{"self", json_of(a)}});
  return out;
}
Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const {
  Tensor out = room_for(broadcast(sizes(), mask.sizes()), {*this}, scalar_type());
  library("masked_fill.Scalar", {*this, mask}, {out}, {{"value", json_of(value)}});
  return out;
}
Tensor& Tensor::masked_fill_(const Tensor& mask, const Scalar& value) const {
  library("masked_fill.Scalar", {*this, mask}, {*this}, {{"value", json_of(value)}});
  return const_cast<Tensor&>(*this);
}

Tensor gelu(const Tensor& self, std::string_view approximate) {
  return unary("gelu", self, Result::SAME, {{"approximate", std::string(approximate)}});
}
Tensor leaky_relu(const Tensor& self, const Scalar& slope) {
  return unary("leaky_relu", self, Result::SAME, {{"negative_slope", json_of(slope)}});
}
Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return unary("elu", self, Result::SAME,
               {{"alpha", json_of(alpha)}, {"scale", json_of(scale)}, {"input_scale", json_of(input_scale)}});
}
Tensor hardtanh(const Tensor& self, const Scalar& low, const Scalar& high) {
  return unary("hardtanh", self, Result::SAME, {{"min_val", json_of(low)}, {"max_val", json_of(high)}});
}
Tensor softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  return unary("softplus", self, Result::SAME, {{"beta", json_of(beta)}, {"threshold", json_of(threshold)}});
}
Tensor glu(const Tensor& self, int64_t dim) {
  Shape shape = self.sizes().vec();
  shape.at(wrap(dim, self.dim())) /= 2;
  Tensor out = fresh(shape, self.scalar_type());
  library("glu", {self}, {out}, {{"dim", dim}});
  return out;
}
Tensor dropout(const Tensor& self, double p, bool train) {
  if (train && p > 0) unsupported("at::dropout in training");
  return self;
}

namespace {
Tensor along(const char* name, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, ScalarType natural) {
  Tensor out = fresh_like(self, dtype.value_or(natural));
  library(name, {self}, {out}, {{"dim", wrap(dim, self.dim())}, {"dtype", json_of(dtype)}});
  return out;
}
ScalarType summed(ScalarType type) { return isIntegralType(type, true) ? kLong : type; }
}  // namespace

Tensor Tensor::softmax(int64_t dim, std::optional<ScalarType> dtype) const {
  return along("softmax.int", *this, dim, dtype, scalar_type());
}
Tensor Tensor::log_softmax(int64_t dim, std::optional<ScalarType> dtype) const {
  return along("log_softmax.int", *this, dim, dtype, scalar_type());
}
Tensor Tensor::cumsum(int64_t dim, std::optional<ScalarType> dtype) const {
  return along("cumsum", *this, dim, dtype, summed(scalar_type()));
}
Tensor Tensor::cumprod(int64_t dim, std::optional<ScalarType> dtype) const {
  return along("cumprod", *this, dim, dtype, summed(scalar_type()));
}
Tensor _softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  return self.softmax(dim, half_to_float ? std::optional<ScalarType>(kFloat) : std::nullopt);
}

}  // namespace at
