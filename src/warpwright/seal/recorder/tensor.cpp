// Tensors: reference counts, properties and memory.
#include "impl.h"

namespace warpwright {

int64_t product(c10::IntArrayRef shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

Shape contiguous_stride(c10::IntArrayRef shape) {
  Shape stride(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0; step *= std::max<int64_t>(shape[i], 1)) stride[i] = step;
  return stride;
}

int64_t wrap(int64_t dim, int64_t dims) {
  int64_t range = std::max<int64_t>(dims, 1);
  TORCH_CHECK_INDEX(dim >= -range && dim < range, "Dimension out of range (expected to be in range of [", -range, ", ",
                    range - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + range : dim;
}

at::Tensor window(std::shared_ptr<Storage> storage, Shape shape, Shape stride, int64_t offset, c10::ScalarType dtype) {
  auto* impl = new at::TensorImpl;
  impl->storage = std::move(storage);
  impl->shape = std::move(shape);
  impl->stride = std::move(stride);
  impl->offset = offset;
  impl->dtype = dtype;
  return at::Tensor(impl);
}

at::Tensor view_of(const at::Tensor& tensor, Shape shape, Shape stride, int64_t offset) {
  const at::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  return window(impl.storage, std::move(shape), std::move(stride), offset, impl.dtype);
}

at::Tensor fresh_strided(Shape shape, Shape stride, c10::ScalarType dtype, bool device) {
  int64_t last = product(shape) == 0 ? -1 : 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    TORCH_CHECK(shape[i] >= 0, "Trying to create tensor with negative dimension ", shape[i], ": ",
                c10::IntArrayRef(shape));
    last += last < 0 ? 0 : (shape[i] - 1) * stride[i];
  }
  uint64_t bytes = static_cast<uint64_t>(last + 1) * c10::elementSize(dtype);
  auto storage = device ? std::make_shared<Storage>(Recorder::current().allocate(bytes), true)
                        : std::make_shared<Storage>(static_cast<size_t>(bytes));
  return window(std::move(storage), std::move(shape), std::move(stride), 0, dtype);
}

at::Tensor fresh(Shape shape, c10::ScalarType dtype, bool device) {
  Shape stride = contiguous_stride(shape);
  return fresh_strided(std::move(shape), std::move(stride), dtype, device);
}

// Dense tensors keep their order of dimensions; others get the order of their strides, packed.
Shape dense_stride_like(const at::Tensor& like) {
  if (like.is_non_overlapping_and_dense()) return like.strides().vec();
  std::vector<size_t> order(like.dim());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  c10::IntArrayRef stride = like.strides();
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return stride[a] > stride[b]; });
  Shape packed(order.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0; step *= std::max<int64_t>(like.size(order[i]), 1)) packed[order[i]] = step;
  return packed;
}

at::Tensor fresh_like(const at::Tensor& like, c10::ScalarType dtype) {
  return fresh_strided(like.sizes().vec(), dense_stride_like(like), dtype, like.is_cuda());
}

namespace {
// The elements of a CPU tensor in the order of its shape.
std::string elements_of(const at::Tensor& tensor) {
  std::string text;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t rest = i, offset = 0;
    for (int64_t d = tensor.dim(); d-- > 0; rest /= tensor.size(d)) offset += rest % tensor.size(d) * tensor.stride(d);
    text += hex(static_cast<const char*>(tensor.data_ptr()) + offset * tensor.element_size(), tensor.element_size());
  }
  return text;
}
}  // namespace

Json json_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return nullptr;
  const at::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  Object view;
  if (impl.storage->on_device()) {
    view = {{"buffer", impl.storage->buffer_id()}, {"offset", impl.offset * tensor.element_size()}};
  } else {
    view = {{"host", true}, {"data", elements_of(tensor)}};
  }
  view.emplace_back("shape", json_of(impl.shape));
  view.emplace_back("stride", json_of(impl.stride));
  view.emplace_back("dtype", python_name(impl.dtype));
  return view;
}

void library(const std::string& operation, const Tensors& inputs, const Tensors& outputs, Object options) {
  Array from, to;
  for (const at::Tensor& input : inputs) {
    if (input.defined() && !input.is_cuda()) unsupported(("at::" + operation + " on a CPU tensor").c_str());
    from.push_back(json_of(input));
  }
  for (const at::Tensor& output : outputs) to.push_back(json_of(output));
  Recorder::current().add({{"op", "library"},
                           {"operation", operation},
                           {"inputs", from},
                           {"outputs", to},
                           {"options", std::move(options)}});
}

}  // namespace warpwright

namespace at {

using namespace warpwright;

namespace {
const TensorImpl& facts(const TensorImpl* impl) {
  TORCH_CHECK(impl, "an undefined tensor was used");
  return *impl;
}
void drop(TensorImpl* impl) {
  if (impl && --impl->references == 0) delete impl;
}
}  // namespace

Tensor::Tensor(TensorImpl* impl) : impl_(impl) { ++impl_->references; }
Tensor::Tensor(const Tensor& other) : impl_(other.impl_) {
  if (impl_) ++impl_->references;
}
Tensor::~Tensor() { drop(impl_); }
Tensor& Tensor::operator=(const Tensor& other) & {
  Tensor copy(other);
  swap(copy);
  return *this;
}
Tensor& Tensor::operator=(Tensor&& other) & noexcept {
  Tensor moved(std::move(other));
  swap(moved);
  return *this;
}
Tensor& Tensor::operator=(const Tensor& other) && { return copy_(other); }
Tensor& Tensor::operator=(const Scalar& value) && { return fill_(value); }
void Tensor::reset() { *this = Tensor(); }
int64_t Tensor::use_count() const { return impl_ ? impl_->references : 0; }

int64_t Tensor::dim() const { return static_cast<int64_t>(facts(impl_).shape.size()); }
int64_t Tensor::size(int64_t d) const { return facts(impl_).shape.at(wrap(d, dim())); }
int64_t Tensor::stride(int64_t d) const { return facts(impl_).stride.at(wrap(d, dim())); }
IntArrayRef Tensor::sizes() const { return facts(impl_).shape; }
IntArrayRef Tensor::strides() const { return facts(impl_).stride; }
int64_t Tensor::numel() const { return product(facts(impl_).shape); }
int64_t Tensor::element_size() const { return static_cast<int64_t>(c10::elementSize(facts(impl_).dtype)); }
size_t Tensor::nbytes() const { return static_cast<size_t>(numel() * element_size()); }
int64_t Tensor::storage_offset() const { return facts(impl_).offset; }
ScalarType Tensor::scalar_type() const { return facts(impl_).dtype; }
Device Tensor::device() const { return facts(impl_).storage->on_device() ? Device(kCUDA, 0) : Device(kCPU); }
DeviceIndex Tensor::get_device() const { return device().index(); }
TensorOptions Tensor::options() const { return TensorOptions(scalar_type()).device(device()); }
bool Tensor::requires_grad() const { return facts(impl_).requires_grad; }
const Tensor& Tensor::requires_grad_(bool wanted) const {
  facts(impl_);
  impl_->requires_grad = wanted;
  return *this;
}
Tensor Tensor::detach() const { return view_of(*this, sizes().vec(), strides().vec(), storage_offset()); }
const Tensor& Tensor::grad() const { unsupported("Tensor.grad"); }
const Tensor& Tensor::expect_contiguous() const {
  if (!is_contiguous()) unsupported("Tensor.expect_contiguous on a strided tensor");
  return *this;
}
bool Tensor::is_alias_of(const Tensor& other) const { return facts(impl_).storage == facts(other.impl_).storage; }

namespace {
bool ordered(const Shape& shape, const Shape& stride, std::initializer_list<int> order) {
  int64_t step = 1;
  for (int d : order) {
    if (shape[d] != 1 && stride[d] != step) return false;
    step *= std::max<int64_t>(shape[d], 1);
  }
  return true;
}
}  // namespace

bool Tensor::is_contiguous(MemoryFormat format) const {
  const TensorImpl& my = facts(impl_);
  if (format == MemoryFormat::ChannelsLast) return dim() == 4 && ordered(my.shape, my.stride, {1, 3, 2, 0});
  if (format == MemoryFormat::ChannelsLast3d) return dim() == 5 && ordered(my.shape, my.stride, {1, 4, 3, 2, 0});
  if (numel() == 0) return true;
  int64_t step = 1;
  for (size_t i = my.shape.size(); i-- > 0; step *= my.shape[i])
    if (my.shape[i] != 1 && my.stride[i] != step) return false;
  return true;
}

bool Tensor::is_non_overlapping_and_dense() const {
  const TensorImpl& my = facts(impl_);
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t i = 0; i < my.shape.size(); ++i)
    if (my.shape[i] != 1) dims.emplace_back(my.stride[i], my.shape[i]);
  std::sort(dims.begin(), dims.end());
  int64_t step = 1;
  for (auto [stride, size] : dims) {
    if (stride != step) return false;
    step *= size;
  }
  return true;
}

MemoryFormat Tensor::suggest_memory_format() const {
  if (is_contiguous()) return MemoryFormat::Contiguous;
  if (is_contiguous(MemoryFormat::ChannelsLast)) return MemoryFormat::ChannelsLast;
  return is_contiguous(MemoryFormat::ChannelsLast3d) ? MemoryFormat::ChannelsLast3d : MemoryFormat::Contiguous;
}

void* Tensor::data_ptr() const {
  const TensorImpl& my = facts(impl_);
  if (numel() == 0) return nullptr;
  return reinterpret_cast<void*>(my.storage->base + static_cast<uint64_t>(my.offset * element_size()));
}

void* Tensor::data_ptr_as(ScalarType type) const {
  TORCH_CHECK(scalar_type() == type, "expected scalar type ", type, " but found ", scalar_type());
  return data_ptr();
}

void Tensor::require_dim(int64_t wanted) const {
  TORCH_CHECK(dim() == wanted, "TensorAccessor expected ", wanted, " dims but tensor has ", dim());
}

Scalar Tensor::item() const {
  if (is_cuda()) reads_device_data("Tensor.item");
  TORCH_CHECK(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
  switch (scalar_type()) {
#define WARPWRIGHT_ITEM(TYPE) \
  case c10::CppTypeToScalarType<TYPE>::value: return *data_ptr<TYPE>();
    WARPWRIGHT_ITEM(float)
    WARPWRIGHT_ITEM(double)
    WARPWRIGHT_ITEM(int)
    WARPWRIGHT_ITEM(int64_t)
    WARPWRIGHT_ITEM(bool)
    WARPWRIGHT_ITEM(uint8_t)
#undef WARPWRIGHT_ITEM
    default: unsupported("Tensor.item of this dtype");
  }
}

std::string Tensor::toString() const { return type().toString(); }
std::string DeprecatedTypeProperties::toString() const {
  return std::string(is_cuda() ? "CUDA" : "CPU") + c10::toString(type_) + "Type";
}
std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "[ Tensor (undefined) ]";
  if (tensor.is_cuda()) reads_device_data("printing a tensor");
  return out << "[ " << tensor.toString() << tensor.sizes() << " ]";
}

}  // namespace at
