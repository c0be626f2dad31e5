// Views: other shapes on the same memory, by torch's rules.
#include "impl.h"

namespace at {

using namespace warpwright;

namespace {

Shape infer(IntArrayRef shape, int64_t count) {
  Shape full = shape.vec();
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < full.size(); ++i) {
    TORCH_CHECK(full[i] != -1 || open < 0, "only one dimension can be inferred");
    if (full[i] == -1) open = static_cast<int64_t>(i);
    else known *= full[i];
  }
  if (open >= 0 && known > 0) full[open] = count / known;
  TORCH_CHECK(product(full) == count, "shape '", shape, "' is invalid for input of size ", count);
  return full;
}

// The strides of the new shape if no copy is needed: each contiguous run of old dimensions can be divided
// differently.
std::optional<Shape> stride_of_view(const Tensor& tensor, const Shape& shape) {
  IntArrayRef old_shape = tensor.sizes(), old_stride = tensor.strides();
  if (tensor.numel() == 0) return contiguous_stride(shape);
  Shape stride(shape.size(), 1);
  int64_t at = static_cast<int64_t>(shape.size()) - 1;
  int64_t run_old = 1, run_new = 1;
  int64_t base = tensor.dim() ? old_stride[tensor.dim() - 1] : 1;
  for (int64_t d = tensor.dim() - 1; d >= 0; --d) {
    run_old *= old_shape[d];
    bool run_ends = d == 0 || (old_shape[d - 1] != 1 && old_stride[d - 1] != run_old * base);
    if (!run_ends) continue;
    while (at >= 0 && (run_new < run_old || shape[at] == 1)) {
      stride[at] = run_new * base;
      run_new *= shape[at--];
    }
    if (run_new != run_old) return std::nullopt;
    if (d > 0) {
      base = old_stride[d - 1];
      run_old = run_new = 1;
    }
  }
  for (; at >= 0; --at) stride[at] = run_new * base;
  return stride;
}

}  // namespace

Tensor Tensor::view(IntArrayRef shape) const {
  Shape full = infer(shape, numel());
  auto stride = stride_of_view(*this, full);
  TORCH_CHECK(
      stride.has_value(),
      "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
      "contiguous subspaces). Use .reshape(...) instead.");
  return view_of(*this, full, *stride, storage_offset());
}

Tensor Tensor::view(ScalarType type) const {
  int64_t old_size = element_size(), new_size = static_cast<int64_t>(c10::elementSize(type));
  Shape shape = sizes().vec(), stride = strides().vec();
  if (old_size != new_size) {
    TORCH_CHECK(dim() > 0 && is_contiguous(), "self.stride(-1) must be 1 to view ", scalar_type(), " as ", type);
    shape.back() = shape.back() * old_size / new_size;
    stride = contiguous_stride(shape);
  }
  return window(impl_->storage, shape, stride, storage_offset() * old_size / new_size, type);
}

Tensor Tensor::reshape(IntArrayRef shape) const {
  Shape full = infer(shape, numel());
  auto stride = stride_of_view(*this, full);
  return stride ? view_of(*this, full, *stride, storage_offset()) : contiguous().view(full);
}

Tensor Tensor::flatten(int64_t start, int64_t end) const {
  if (dim() == 0) return reshape({1});
  start = wrap(start, dim());
  end = wrap(end, dim());
  Shape shape(sizes().begin(), sizes().begin() + start);
  shape.push_back(product(sizes().slice(start, end - start + 1)));
  shape.insert(shape.end(), sizes().begin() + end + 1, sizes().end());
  return reshape(shape);
}

Tensor Tensor::unflatten(int64_t d, IntArrayRef parts) const {
  d = wrap(d, dim());
  Shape inner = infer(parts, size(d)), shape(sizes().begin(), sizes().begin() + d);
  shape.insert(shape.end(), inner.begin(), inner.end());
  shape.insert(shape.end(), sizes().begin() + d + 1, sizes().end());
  return view(shape);
}

Tensor Tensor::squeeze() const {
  Shape shape, stride;
  for (int64_t d = 0; d < dim(); ++d)
    if (size(d) != 1) shape.push_back(size(d)), stride.push_back(this->stride(d));
  return view_of(*this, shape, stride, storage_offset());
}

Tensor Tensor::squeeze(int64_t d) const {
  d = wrap(d, dim());
  Shape shape = sizes().vec(), stride = strides().vec();
  if (dim() > 0 && size(d) == 1) shape.erase(shape.begin() + d), stride.erase(stride.begin() + d);
  return view_of(*this, shape, stride, storage_offset());
}
Tensor& Tensor::squeeze_(int64_t d) { return *this = squeeze(d); }

Tensor Tensor::unsqueeze(int64_t d) const {
  d = wrap(d, dim() + 1);
  Shape shape = sizes().vec(), stride = strides().vec();
  int64_t step = d < dim() ? shape[d] * stride[d] : 1;
  shape.insert(shape.begin() + d, 1);
  stride.insert(stride.begin() + d, step);
  return view_of(*this, shape, stride, storage_offset());
}
Tensor& Tensor::unsqueeze_(int64_t d) { return *this = unsqueeze(d); }

Tensor Tensor::permute(IntArrayRef order) const {
  TORCH_CHECK(static_cast<int64_t>(order.size()) == dim(), "permute: number of dimensions must match");
  Shape shape, stride;
  std::vector<bool> seen(order.size());
  for (int64_t d : order) {
    d = wrap(d, dim());
    TORCH_CHECK(!seen[d], "permute: duplicate dims are not allowed");
    seen[d] = true;
    shape.push_back(size(d));
    stride.push_back(this->stride(d));
  }
  return view_of(*this, shape, stride, storage_offset());
}

Tensor Tensor::transpose(int64_t a, int64_t b) const {
  Shape order(dim());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  if (dim() > 0) std::swap(order[wrap(a, dim())], order[wrap(b, dim())]);
  return permute(order);
}

Tensor Tensor::t() const {
  TORCH_CHECK(dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", dim(), "D");
  return dim() < 2 ? *this : transpose(0, 1);
}

Tensor Tensor::numpy_T() const {
  Shape order;
  for (int64_t d = dim(); d-- > 0;) order.push_back(d);
  return permute(order);
}

Tensor Tensor::movedim(int64_t source, int64_t target) const {
  source = wrap(source, dim());
  target = wrap(target, dim());
  Shape order;
  for (int64_t d = 0; d < dim(); ++d)
    if (d != source) order.push_back(d);
  order.insert(order.begin() + target, source);
  return permute(order);
}

Tensor Tensor::expand(IntArrayRef wanted, bool) const {
  int64_t extra = static_cast<int64_t>(wanted.size()) - dim();
  TORCH_CHECK(extra >= 0, "expand: the number of sizes must not be below the number of dimensions");
  Shape shape = wanted.vec(), stride(wanted.size(), 0);
  for (int64_t d = 0; d < dim(); ++d) {
    int64_t& target = shape[extra + d];
    if (target == -1) target = size(d);
    TORCH_CHECK(target == size(d) || size(d) == 1, "The expanded size of the tensor (", target,
                ") must match the existing size (", size(d), ") at non-singleton dimension ", extra + d);
    stride[extra + d] = target == size(d) ? this->stride(d) : 0;
  }
  return view_of(*this, shape, stride, storage_offset());
}

Tensor Tensor::select(int64_t d, int64_t index) const {
  TORCH_CHECK_INDEX(dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  d = wrap(d, dim());
  TORCH_CHECK_INDEX(index >= -size(d) && index < size(d), "select(): index ", index,
                    " out of range for tensor of size ", sizes(), " at dimension ", d);
  int64_t at = storage_offset() + (index < 0 ? index + size(d) : index) * this->stride(d);
  Shape shape = sizes().vec(), stride = strides().vec();
  shape.erase(shape.begin() + d);
  stride.erase(stride.begin() + d);
  return view_of(*this, shape, stride, at);
}

Tensor Tensor::slice(int64_t d, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const {
  d = wrap(d, dim());
  TORCH_CHECK(step > 0, "slice step must be positive");
  auto clip = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size(d) : i, 0, size(d)); };
  int64_t from = clip(start.value_or(0)), to = std::max(from, clip(end.value_or(size(d))));
  Shape shape = sizes().vec(), stride = strides().vec();
  shape[d] = (to - from + step - 1) / step;
  int64_t offset = storage_offset() + from * stride[d];
  stride[d] *= step;
  return view_of(*this, shape, stride, offset);
}

Tensor Tensor::narrow(int64_t d, int64_t start, int64_t length) const {
  d = wrap(d, dim());
  if (start < 0) start += size(d);
  TORCH_CHECK(start >= 0 && length >= 0 && start + length <= size(d), "start (", start, ") + length (", length,
              ") exceeds dimension size (", size(d), ").");
  return slice(d, start, start + length);
}

Tensor Tensor::diagonal(int64_t offset, int64_t dim1, int64_t dim2) const {
  dim1 = wrap(dim1, dim());
  dim2 = wrap(dim2, dim());
  int64_t length = offset >= 0 ? std::min(size(dim1), size(dim2) - offset) : std::min(size(dim1) + offset, size(dim2));
  int64_t start = offset >= 0 ? offset * this->stride(dim2) : -offset * this->stride(dim1);
  Shape shape, stride;
  for (int64_t d = 0; d < dim(); ++d)
    if (d != dim1 && d != dim2) shape.push_back(size(d)), stride.push_back(this->stride(d));
  shape.push_back(std::max<int64_t>(length, 0));
  stride.push_back(this->stride(dim1) + this->stride(dim2));
  return view_of(*this, shape, stride, storage_offset() + (length > 0 ? start : 0));
}

Tensor Tensor::as_strided(IntArrayRef shape, IntArrayRef stride, std::optional<int64_t> offset) const {
  return view_of(*this, shape.vec(), stride.vec(), offset.value_or(storage_offset()));
}

Tensor Tensor::unfold(int64_t d, int64_t length, int64_t step) const {
  d = wrap(d, dim());
  TORCH_CHECK(length <= size(d) && step > 0, "unfold: size or step out of range");
  Shape shape = sizes().vec(), stride = strides().vec();
  shape[d] = (size(d) - length) / step + 1;
  shape.push_back(length);
  stride.push_back(stride[d]);
  stride[d] *= step;
  return view_of(*this, shape, stride, storage_offset());
}

Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return index(ArrayRef<indexing::TensorIndex>(indices.begin(), indices.size()));
}

namespace {
using Kind = indexing::TensorIndex::Kind;

// The rows selected by a tensor of integers. The rows that a mask selects depend on the device's data.
Tensor rows(const Tensor& self, const Tensor& index) {
  if (!isIntegralType(index.scalar_type())) unsupported("Tensor.index with a mask");
  Shape shape = index.sizes().vec();
  shape.insert(shape.end(), self.sizes().begin() + 1, self.sizes().end());
  Tensor out = fresh(shape, self.scalar_type());
  library("index.Tensor", {self, index}, {out});
  return out;
}

bool any_tensor(ArrayRef<indexing::TensorIndex> indices) {
  return std::any_of(indices.begin(), indices.end(), [](const auto& i) { return i.kind() == Kind::TENSOR; });
}
}  // namespace

Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const {
  if (indices.size() == 1 && any_tensor(indices)) return rows(*this, indices[0].tensor());
  int64_t named = 0, d = 0;
  for (const auto& i : indices) named += i.kind() == Kind::INTEGER || i.kind() == Kind::SLICE;
  Tensor result = *this;
  for (const auto& i : indices) {
    switch (i.kind()) {
      case Kind::NONE: result = result.unsqueeze(d++); break;
      case Kind::ELLIPSIS: d += dim() - named; break;
      case Kind::INTEGER: result = result.select(d, i.integer()); break;
      case Kind::SLICE: result = result.slice(d++, i.slice().start_, i.slice().stop_, i.slice().step_); break;
      case Kind::TENSOR: unsupported("Tensor.index with a tensor among others");
    }
  }
  return result;
}

Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& value) {
  if (any_tensor(ArrayRef<indexing::TensorIndex>(indices))) unsupported("Tensor.index_put_ with a tensor");
  index(indices).copy_(value);
  return *this;
}
Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value) {
  if (any_tensor(ArrayRef<indexing::TensorIndex>(indices))) unsupported("Tensor.index_put_ with a tensor");
  index(indices).fill_(value);
  return *this;
}

std::vector<Tensor> Tensor::split_with_sizes(IntArrayRef parts, int64_t d) const {
  d = wrap(d, dim());
  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (int64_t part : parts) pieces.push_back(narrow(d, start, part)), start += part;
  TORCH_CHECK(start == size(d), "split_with_sizes expects split_sizes to sum exactly to ", size(d));
  return pieces;
}

std::vector<Tensor> Tensor::split(int64_t part, int64_t d) const {
  d = wrap(d, dim());
  TORCH_CHECK(part > 0, "split expects a positive split_size");
  std::vector<Tensor> pieces;
  for (int64_t start = 0; start < size(d); start += part) pieces.push_back(slice(d, start, start + part));
  return pieces;
}

std::vector<Tensor> Tensor::chunk(int64_t count, int64_t d) const {
  TORCH_CHECK(count > 0, "chunk expects `chunks` to be greater than 0, got: ", count);
  d = wrap(d, dim());
  return split(std::max<int64_t>((size(d) + count - 1) / count, 1), d);
}

std::vector<Tensor> Tensor::unbind(int64_t d) const {
  d = wrap(d, dim());
  std::vector<Tensor> pieces;
  for (int64_t i = 0; i < size(d); ++i) pieces.push_back(select(d, i));
  return pieces;
}

// Growing needs new memory, which other views would not share; torch does not guarantee the old contents.
const Tensor& Tensor::resize_(IntArrayRef shape) const {
  if (shape == sizes()) return *this;
  int64_t bytes = (storage_offset() + product(shape)) * element_size();
  if (bytes > static_cast<int64_t>(impl_->storage->bytes)) unsupported("Tensor.resize_ beyond its memory");
  impl_->shape = shape.vec();
  impl_->stride = contiguous_stride(shape);
  return *this;
}

}  // namespace at
