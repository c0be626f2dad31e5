// Joining, repeating, picking and scattering elements.
#include "impl.h"

namespace at {

using namespace warpwright;

Tensor cat(TensorList tensors, int64_t dim) {
  TORCH_CHECK(!tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
  int64_t d = wrap(dim, tensors[0].dim());
  Shape shape = tensors[0].sizes().vec();
  ScalarType type = tensors[0].scalar_type();
  shape.at(d) = 0;
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.dim() == static_cast<int64_t>(shape.size()), "Tensors must have same number of dimensions");
    for (int64_t i = 0; i < tensor.dim(); ++i)
      TORCH_CHECK(i == d || tensor.size(i) == shape[i], "Sizes of tensors must match except in dimension ", d);
    shape[d] += tensor.size(d);
    type = promoteTypes(type, tensor.scalar_type());
  }
  Tensor out = fresh(shape, type);
  library("cat", tensors.vec(), {out}, {{"dim", d}});
  return out;
}

Tensor stack(TensorList tensors, int64_t dim) {
  TORCH_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  int64_t d = wrap(dim, tensors[0].dim() + 1);
  Shape shape = tensors[0].sizes().vec();
  for (const Tensor& tensor : tensors)
    TORCH_CHECK(tensor.sizes() == IntArrayRef(shape), "stack expects each tensor to be equal size");
  shape.insert(shape.begin() + d, static_cast<int64_t>(tensors.size()));
  return produce("stack", shape, tensors.vec(), {{"dim", d}});
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool scale, bool sparse) {
  Shape shape = indices.sizes().vec();
  shape.push_back(weight.size(1));
  return produce("embedding", shape, {weight, indices},
                 {{"padding_idx", padding_idx}, {"scale_grad_by_freq", scale}, {"sparse", sparse}});
}

Tensor Tensor::index_select(int64_t dim, const Tensor& index) const {
  Shape shape = sizes().vec();
  int64_t d = wrap(dim, this->dim());
  shape.at(d) = index.numel();
  return produce("index_select", shape, {*this, index}, {{"dim", d}});
}
Tensor Tensor::gather(int64_t dim, const Tensor& index) const {
  return produce("gather", index.sizes().vec(), {*this, index},
                 {{"dim", wrap(dim, this->dim())}, {"sparse_grad", false}});
}
Tensor Tensor::scatter_add(int64_t dim, const Tensor& index, const Tensor& source) const {
  return produce("scatter_add", sizes().vec(), {*this, index, source}, {{"dim", wrap(dim, this->dim())}});
}
Tensor& Tensor::scatter_add_(int64_t dim, const Tensor& index, const Tensor& source) const {
  library("scatter_add", {*this, index, source}, {*this}, {{"dim", wrap(dim, this->dim())}});
  return const_cast<Tensor&>(*this);
}
Tensor& Tensor::index_add_(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const {
  library("index_add", {*this, index, source}, {*this}, {{"dim", wrap(dim, this->dim())}, {"alpha", json_of(alpha)}});
  return const_cast<Tensor&>(*this);
}

Tensor Tensor::repeat(IntArrayRef times) const {
  TORCH_CHECK(static_cast<int64_t>(times.size()) >= dim(),
              "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  Shape shape = times.vec();
  for (int64_t d = 0; d < dim(); ++d) shape[shape.size() - dim() + d] *= size(d);
  return produce("repeat", shape, {*this}, {{"repeats", json_of(times)}});
}
Tensor Tensor::repeat_interleave(int64_t times, std::optional<int64_t> dim) const {
  Shape shape = dim ? sizes().vec() : Shape{numel()};
  shape.at(dim ? wrap(*dim, this->dim()) : 0) *= times;
  return produce("repeat_interleave.self_int", shape, {*this},
                 {{"repeats", times}, {"dim", dim ? Json(*dim) : Json()}});
}
Tensor Tensor::roll(IntArrayRef shifts, IntArrayRef dims) const {
  return produce("roll", sizes().vec(), {*this}, {{"shifts", json_of(shifts)}, {"dims", json_of(dims)}});
}
Tensor Tensor::flip(IntArrayRef dims) const {
  return produce("flip", sizes().vec(), {*this}, {{"dims", json_of(dims)}});
}
Tensor Tensor::tril(int64_t diagonal) const {
  return produce("tril", sizes().vec(), {*this}, {{"diagonal", diagonal}});
}
Tensor Tensor::triu(int64_t diagonal) const {
  return produce("triu", sizes().vec(), {*this}, {{"diagonal", diagonal}});
}

}  // namespace at
