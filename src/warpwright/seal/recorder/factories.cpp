// Making tensors and copying them: memory, fills, uploads and copies.
#include "impl.h"

namespace at {

using namespace warpwright;

namespace {

Shape stride_for(const Shape& shape, MemoryFormat format) {
  if (format != MemoryFormat::ChannelsLast && format != MemoryFormat::ChannelsLast3d) return contiguous_stride(shape);
  TORCH_CHECK(shape.size() == (format == MemoryFormat::ChannelsLast ? 4 : 5),
              "required rank 4 tensor to use channels_last format");
  Shape last(shape.begin(), shape.end());
  last.erase(last.begin() + 1);
  last.push_back(shape[1]);
  Shape packed = contiguous_stride(last);
  packed.insert(packed.begin() + 1, packed.back());
  packed.pop_back();
  return packed;
}

Tensor make(IntArrayRef shape, const TensorOptions& options) {
  Shape stride = stride_for(shape.vec(), options.memory_format_opt().value_or(MemoryFormat::Contiguous));
  Tensor result = fresh_strided(shape.vec(), stride, options.scalar_type(), options.is_cuda());
  return result.requires_grad_(options.requires_grad());
}

Tensor make_like(const Tensor& like, const TensorOptions& options, std::optional<MemoryFormat> format) {
  MemoryFormat wanted = format.value_or(options.memory_format_opt().value_or(MemoryFormat::Preserve));
  ScalarType dtype = options.scalar_type_opt().value_or(like.scalar_type());
  bool device = options.device_opt().value_or(like.device()).is_cuda();
  Shape shape = like.sizes().vec();
  return fresh_strided(shape, wanted == MemoryFormat::Preserve ? dense_stride_like(like) : stride_for(shape, wanted),
                       dtype, device);
}

TensorOptions merged(const Tensor& like, const TensorOptions& options) {
  return options.dtype(options.scalar_type_opt().value_or(like.scalar_type()))
      .device(options.device_opt().value_or(like.device()));
}

// Scalars take the type torch would give them: integers become int64, the rest stays float.
TensorOptions typed(const TensorOptions& options, const Scalar& value) {
  if (options.has_dtype()) return options;
  return options.dtype(value.isFloatingPoint() ? kFloat : value.isBoolean() ? kBool : kLong);
}

template <class F>
void for_host_type(ScalarType type, F function) {
  switch (type) {
#define WARPWRIGHT_CASE(CPP, NAME, ...) \
  case ScalarType::NAME: return function(CPP());
    WARPWRIGHT_CASE(uint8_t, Byte)
    WARPWRIGHT_CASE(int8_t, Char)
    WARPWRIGHT_CASE(int16_t, Short)
    WARPWRIGHT_CASE(int, Int)
    WARPWRIGHT_CASE(int64_t, Long)
    WARPWRIGHT_CASE(c10::Half, Half)
    WARPWRIGHT_CASE(float, Float)
    WARPWRIGHT_CASE(double, Double)
    WARPWRIGHT_CASE(bool, Bool)
    WARPWRIGHT_CASE(c10::BFloat16, BFloat16)
#undef WARPWRIGHT_CASE
    default: unsupported("a CPU tensor of this dtype");
  }
}

void require_host_contiguous(const Tensor& tensor) {
  if (!tensor.is_contiguous()) unsupported("a strided CPU tensor");
}

template <class F>
void write_host(const Tensor& tensor, F value_at) {
  require_host_contiguous(tensor);
  for_host_type(tensor.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < tensor.numel(); ++i) tensor.data_ptr<T>()[i] = static_cast<T>(value_at(i));
  });
}

bool same_dense_layout(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.is_non_overlapping_and_dense();
}

int buffer_of(const Tensor& tensor) { return tensor.unsafeGetTensorImpl()->storage->buffer_id(); }
int64_t offset_of(const Tensor& tensor) { return tensor.storage_offset() * tensor.element_size(); }

void upload(const Tensor& target, const Tensor& source) {
  require_host_contiguous(source);
  if (source.numel() == 0) return;
  Recorder::current().add({{"op", "upload"},
                           {"buffer", buffer_of(target)},
                           {"offset", offset_of(target)},
                           {"data", hex(source.data_ptr(), source.nbytes())}});
}

}  // namespace

// Factories.

Tensor empty(IntArrayRef shape, const TensorOptions& options) { return make(shape, options); }
Tensor empty(IntArrayRef shape, const TensorOptions& options, std::optional<MemoryFormat> format) {
  return make(shape, format ? options.memory_format(*format) : options);
}
Tensor empty(IntArrayRef shape, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device> device,
             std::optional<bool>, std::optional<MemoryFormat> format) {
  return empty(shape, TensorOptions().dtype(dtype).device(device), format);
}
Tensor zeros(IntArrayRef shape, const TensorOptions& options) { return make(shape, options).zero_(); }
Tensor ones(IntArrayRef shape, const TensorOptions& options) { return make(shape, options).fill_(1); }
Tensor full(IntArrayRef shape, const Scalar& value, const TensorOptions& options) {
  return make(shape, typed(options, value)).fill_(value);
}
Tensor rand(IntArrayRef, const TensorOptions&) { unsupported("at::rand"); }
Tensor randn(IntArrayRef, const TensorOptions&) { unsupported("at::randn"); }
Tensor empty_like(const Tensor& like, const TensorOptions& options, std::optional<MemoryFormat> format) {
  return make_like(like, options, format);
}
Tensor zeros_like(const Tensor& like, const TensorOptions& options, std::optional<MemoryFormat> format) {
  return make_like(like, options, format).zero_();
}
Tensor ones_like(const Tensor& like, const TensorOptions& options, std::optional<MemoryFormat> format) {
  return make_like(like, options, format).fill_(1);
}
Tensor full_like(const Tensor& like, const Scalar& value, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  return make_like(like, options, format).fill_(value);
}
Tensor rand_like(const Tensor&, const TensorOptions&, std::optional<MemoryFormat>) { unsupported("at::rand_like"); }
Tensor randn_like(const Tensor&, const TensorOptions&, std::optional<MemoryFormat>) { unsupported("at::randn_like"); }
Tensor empty_strided(IntArrayRef shape, IntArrayRef stride, const TensorOptions& options) {
  return fresh_strided(shape.vec(), stride.vec(), options.scalar_type(), options.is_cuda());
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
  bool real = start.isFloatingPoint() || end.isFloatingPoint() || step.isFloatingPoint();
  double count = std::ceil((end.toDouble() - start.toDouble()) / step.toDouble());
  Tensor result = make(static_cast<int64_t>(std::max(count, 0.0)), typed(options, real ? Scalar(0.0) : Scalar(0)));
  if (result.is_cuda())
    library("arange.start_step", {}, {result},
            {{"start", json_of(start)}, {"end", json_of(end)}, {"step", json_of(step)}});
  else write_host(result, [&](int64_t i) { return start.toDouble() + static_cast<double>(i) * step.toDouble(); });
  return result;
}
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}
Tensor arange(const Scalar& end, const TensorOptions& options) { return arange(0, end, 1, options); }

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options) {
  Tensor result = make(steps, options);
  library("linspace", {}, {result}, {{"start", json_of(start)}, {"end", json_of(end)}, {"steps", steps}});
  return result;
}
Tensor eye(int64_t n, const TensorOptions& options) {
  Tensor result = make({n, n}, options);
  library("eye", {}, {result}, {{"n", n}});
  return result;
}
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) { return make({}, options).fill_(value); }

Tensor tensor_of(const void* data, ScalarType type, IntArrayRef shape, const TensorOptions& options) {
  Tensor host = fresh(shape.vec(), type, false);
  if (host.numel()) std::memcpy(host.data_ptr(), data, host.nbytes());
  ScalarType natural = type == kDouble ? kFloat : type == kInt ? kLong : type;
  return host.to(options.device(), options.scalar_type_opt().value_or(natural));
}

Tensor from_blob(void* data, IntArrayRef shape, IntArrayRef stride, const TensorOptions& options) {
  auto place = Recorder::current().locate(data);
  int64_t bytes = product(shape) * static_cast<int64_t>(c10::elementSize(options.scalar_type()));
  auto storage = place ? std::make_shared<Storage>(place->buffer, false) : std::make_shared<Storage>(data, bytes);
  int64_t offset = place ? place->offset / static_cast<int64_t>(c10::elementSize(options.scalar_type())) : 0;
  return window(storage, shape.vec(), stride.vec(), offset, options.scalar_type());
}
Tensor from_blob(void* data, IntArrayRef shape, const TensorOptions& options) {
  return from_blob(data, shape, contiguous_stride(shape), options);
}

Tensor Tensor::new_empty(IntArrayRef shape, const TensorOptions& options) const {
  return empty(shape, merged(*this, options));
}
Tensor Tensor::new_zeros(IntArrayRef shape, const TensorOptions& options) const {
  return zeros(shape, merged(*this, options));
}
Tensor Tensor::new_ones(IntArrayRef shape, const TensorOptions& options) const {
  return ones(shape, merged(*this, options));
}
Tensor Tensor::new_full(IntArrayRef shape, const Scalar& value, const TensorOptions& options) const {
  return full(shape, value, merged(*this, options));
}

// Fills and copies.

Tensor& Tensor::zero_() const { return fill_(0); }

Tensor& Tensor::fill_(const Scalar& value) const {
  if (!is_cuda()) write_host(*this, [&](int64_t) { return value.toDouble(); });
  else if (numel() > 0)
    Recorder::current().add({{"op", "fill"}, {"target", json_of(*this)}, {"value", json_of(value)}});
  return const_cast<Tensor&>(*this);
}
Tensor& Tensor::fill_(const Tensor& value) const { return copy_(value.expand(sizes())); }

Tensor& Tensor::copy_(const Tensor& source, bool) const {
  copy_into(*this, source);
  return const_cast<Tensor&>(*this);
}

}  // namespace at

namespace warpwright {

void copy_into(const at::Tensor& target, const at::Tensor& source) {
  if (!target.is_cuda() && source.is_cuda()) reads_device_data("copying a device tensor to the host");
  bool alike = at::same_dense_layout(target, source);
  if (target.is_cuda() && source.is_cuda()) {
    source.expand(target.sizes());
    if (target.numel() == 0) return;
    if (!alike) return library("copy_", {source}, {target});
    Recorder::current().add({{"op", "copy"},
                             {"source", at::buffer_of(source)},
                             {"source_offset", at::offset_of(source)},
                             {"target", at::buffer_of(target)},
                             {"target_offset", at::offset_of(target)},
                             {"bytes", source.nbytes()}});
  } else if (target.is_cuda()) {
    if (alike && target.is_contiguous()) return at::upload(target, source);
    copy_into(target, source.to(at::Device(at::kCUDA)));
  } else if (alike) {
    std::memcpy(target.data_ptr(), source.data_ptr(), source.nbytes());
  } else {
    unsupported("converting a CPU tensor");
  }
}

}  // namespace warpwright

namespace at {

Tensor Tensor::contiguous(MemoryFormat format) const {
  if (is_contiguous(format)) return *this;
  return clone(format);
}

Tensor Tensor::clone(std::optional<MemoryFormat> format) const {
  Tensor copy = make_like(*this, {}, format);
  copy_into(copy, *this);
  return copy;
}

Tensor Tensor::to(Device device, ScalarType type, bool, bool copy) const {
  bool same_device = device.is_cuda() == is_cuda();
  if (same_device && type == scalar_type()) return copy ? clone() : *this;
  if (is_cuda() && !device.is_cuda()) reads_device_data("Tensor.to(cpu)");
  if (same_device && !is_cuda()) {
    Tensor converted = fresh(sizes().vec(), type, false);
    for_host_type(scalar_type(), [&](auto zero) {
      const auto* values = data_ptr<decltype(zero)>();
      require_host_contiguous(*this);
      write_host(converted, [&](int64_t i) { return static_cast<double>(values[i]); });
    });
    return converted;
  }
  if (same_device) {
    Tensor converted = fresh_like(*this, type);
    copy_into(converted, *this);
    return converted;
  }
  Tensor here = to(Device(kCPU), type);
  Tensor there = fresh(sizes().vec(), type);
  upload(there, here);
  return there;
}
Tensor Tensor::to(ScalarType type, bool non_blocking, bool copy) const {
  return to(device(), type, non_blocking, copy);
}
Tensor Tensor::to(Device device, bool non_blocking) const { return to(device, scalar_type(), non_blocking); }
Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy) const {
  return to(options.device_opt().value_or(device()), options.scalar_type_opt().value_or(scalar_type()), non_blocking,
            copy);
}

}  // namespace at
