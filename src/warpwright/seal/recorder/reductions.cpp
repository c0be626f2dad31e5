// Reductions, sorting and scans that shrink or order a tensor.
#include "impl.h"

namespace warpwright {
namespace {

// No dimensions named means all of them.
Shape reduced(const at::Tensor& self, c10::IntArrayRef dims, bool keep) {
  std::vector<bool> gone(self.dim(), dims.empty());
  for (int64_t d : dims)
    if (self.dim() > 0) gone[wrap(d, self.dim())] = true;
  Shape shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!gone[d]) shape.push_back(self.size(d));
    else if (keep) shape.push_back(1);
  }
  return shape;
}

c10::ScalarType summed(c10::ScalarType type) { return c10::isIntegralType(type, true) ? c10::kLong : type; }
c10::IntArrayRef listed(const c10::OptionalIntArrayRef& dims) { return dims ? *dims : c10::IntArrayRef(); }
Json json_of_dims(const c10::OptionalIntArrayRef& dims) { return dims ? json_of(*dims) : Json(); }

at::Tensor reduce(const char* name, const at::Tensor& self, c10::IntArrayRef dims, bool keep, c10::ScalarType dtype,
                  Object options) {
  at::Tensor out = fresh(reduced(self, dims, keep), dtype);
  library(name, {self}, {out}, std::move(options));
  return out;
}

std::tuple<at::Tensor, at::Tensor> with_indices(const char* name, const at::Tensor& self, Shape shape, Object options) {
  at::Tensor values = fresh(shape, self.scalar_type()), indices = fresh(shape, c10::kLong);
  library(name, {self}, {values, indices}, std::move(options));
  return {values, indices};
}

at::Tensor spread(const char* name, const at::Tensor& self, const c10::OptionalIntArrayRef& dims,
                  const std::optional<c10::Scalar>& correction, bool keep) {
  return reduce(name, self, listed(dims), keep, self.scalar_type(),
                {{"dim", json_of_dims(dims)}, {"correction", json_of(correction)}, {"keepdim", keep}});
}

}  // namespace
}  // namespace warpwright

namespace at {

using namespace warpwright;

Tensor Tensor::sum(std::optional<ScalarType> dtype) const {
  return reduce("sum", *this, {}, false, dtype.value_or(summed(scalar_type())), {{"dtype", json_of(dtype)}});
}
Tensor Tensor::sum(OptionalIntArrayRef dims, bool keep, std::optional<ScalarType> dtype) const {
  return reduce("sum.dim_IntList", *this, listed(dims), keep, dtype.value_or(summed(scalar_type())),
                {{"dim", json_of_dims(dims)}, {"keepdim", keep}, {"dtype", json_of(dtype)}});
}
Tensor Tensor::mean(std::optional<ScalarType> dtype) const {
  return reduce("mean", *this, {}, false, dtype.value_or(scalar_type()), {{"dtype", json_of(dtype)}});
}
Tensor Tensor::mean(OptionalIntArrayRef dims, bool keep, std::optional<ScalarType> dtype) const {
  return reduce("mean.dim", *this, listed(dims), keep, dtype.value_or(scalar_type()),
                {{"dim", json_of_dims(dims)}, {"keepdim", keep}, {"dtype", json_of(dtype)}});
}
Tensor Tensor::prod(std::optional<ScalarType> dtype) const {
  return reduce("prod", *this, {}, false, dtype.value_or(summed(scalar_type())), {{"dtype", json_of(dtype)}});
}
Tensor Tensor::prod(int64_t dim, bool keep, std::optional<ScalarType> dtype) const {
  return reduce("prod.dim_int", *this, dim, keep, dtype.value_or(summed(scalar_type())),
                {{"dim", dim}, {"keepdim", keep}, {"dtype", json_of(dtype)}});
}

#define WARPWRIGHT_EXTREME(NAME)                                                                             \
  Tensor Tensor::NAME() const { return reduce(#NAME, *this, {}, false, scalar_type(), {}); }                 \
  std::tuple<Tensor, Tensor> Tensor::NAME(int64_t dim, bool keep) const {                                    \
    return with_indices(#NAME ".dim", *this, reduced(*this, dim, keep), {{"dim", dim}, {"keepdim", keep}});  \
  }                                                                                                          \
  Tensor Tensor::a##NAME(IntArrayRef dims, bool keep) const {                                                \
    return reduce("a" #NAME, *this, dims, keep, scalar_type(), {{"dim", json_of(dims)}, {"keepdim", keep}}); \
  }                                                                                                          \
  Tensor Tensor::arg##NAME(std::optional<int64_t> dim, bool keep) const {                                    \
    return reduce("arg" #NAME, *this, dim ? IntArrayRef(*dim) : IntArrayRef(), keep, kLong,                  \
                  {{"dim", dim ? Json(*dim) : Json()}, {"keepdim", keep}});                                  \
  }
WARPWRIGHT_EXTREME(max)
WARPWRIGHT_EXTREME(min)
#undef WARPWRIGHT_EXTREME
#define WARPWRIGHT_TRUTH(NAME)                                                               \
  Tensor Tensor::NAME() const { return reduce(#NAME, *this, {}, false, kBool, {}); }         \
  Tensor Tensor::NAME(int64_t dim, bool keep) const {                                        \
    return reduce(#NAME ".dim", *this, dim, keep, kBool, {{"dim", dim}, {"keepdim", keep}}); \
  }
WARPWRIGHT_TRUTH(all)
WARPWRIGHT_TRUTH(any)
#undef WARPWRIGHT_TRUTH
#define WARPWRIGHT_SPREAD(NAME)                                                                                        \
  Tensor Tensor::NAME(bool unbiased) const { return spread(#NAME ".correction", *this, {}, unbiased ? 1 : 0, false); } \
  Tensor Tensor::NAME(OptionalIntArrayRef dims, bool unbiased, bool keep) const {                                      \
    return spread(#NAME ".correction", *this, dims, unbiased ? 1 : 0, keep);                                           \
  }                                                                                                                    \
  Tensor Tensor::NAME(OptionalIntArrayRef dims, const std::optional<Scalar>& correction, bool keep) const {            \
    return spread(#NAME ".correction", *this, dims, correction, keep);                                                 \
  }
WARPWRIGHT_SPREAD(var)
WARPWRIGHT_SPREAD(std)
#undef WARPWRIGHT_SPREAD

std::tuple<Tensor, Tensor> var_mean(const Tensor& self, OptionalIntArrayRef dims, bool unbiased, bool keep) {
  Shape shape = reduced(self, listed(dims), keep);
  Tensor var = fresh(shape, self.scalar_type()), mean = fresh(shape, self.scalar_type());
  library("var_mean.correction", {self}, {var, mean},
          {{"dim", json_of_dims(dims)}, {"correction", unbiased ? 1 : 0}, {"keepdim", keep}});
  return {var, mean};
}

Tensor Tensor::norm(const Scalar& p) const {
  return reduce("norm.Scalar", *this, {}, false, scalar_type(), {{"p", json_of(p)}});
}
Tensor Tensor::norm(const std::optional<Scalar>& p, IntArrayRef dims, bool keep) const {
  return reduce("norm.ScalarOpt_dim", *this, dims, keep, scalar_type(),
                {{"p", json_of(p)}, {"dim", json_of(dims)}, {"keepdim", keep}});
}
Tensor Tensor::logsumexp(IntArrayRef dims, bool keep) const {
  return reduce("logsumexp", *this, dims, keep, scalar_type(), {{"dim", json_of(dims)}, {"keepdim", keep}});
}

std::tuple<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest, bool sorted) const {
  Shape shape = sizes().vec();
  int64_t d = wrap(dim, this->dim());
  TORCH_CHECK(shape.empty() || (k >= 0 && k <= shape[d]), "selected index k out of range");
  if (!shape.empty()) shape[d] = k;
  return with_indices("topk", *this, shape, {{"k", k}, {"dim", dim}, {"largest", largest}, {"sorted", sorted}});
}
std::tuple<Tensor, Tensor> Tensor::sort(int64_t dim, bool descending) const {
  return with_indices("sort", *this, sizes().vec(), {{"dim", dim}, {"descending", descending}});
}
Tensor Tensor::argsort(int64_t dim, bool descending) const {
  Tensor out = fresh(sizes().vec(), kLong);
  library("argsort", {*this}, {out}, {{"dim", dim}, {"descending", descending}});
  return out;
}

}  // namespace at
