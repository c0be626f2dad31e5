// TensorOptions: the properties of a tensor to create.
#ifndef WARPWRIGHT_OPTIONS_H
#define WARPWRIGHT_OPTIONS_H

#include "warpwright/device.h"
#include "warpwright/scalar.h"

namespace c10 {

class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType type) : dtype_(type) {}
  TensorOptions(caffe2::TypeMeta type) : dtype_(type.toScalarType()) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType type) : device_(Device(type)) {}
  TensorOptions(Layout layout) : layout_(layout) {}
  TensorOptions(MemoryFormat format) : format_(format) {}

  [[nodiscard]] TensorOptions dtype(warpwright::Maybe<ScalarType> type) const {
    return with(&TensorOptions::dtype_, type);
  }
  [[nodiscard]] TensorOptions dtype(ScalarType type) const { return dtype(warpwright::Maybe<ScalarType>(type)); }
  [[nodiscard]] TensorOptions dtype(caffe2::TypeMeta type) const { return dtype(type.toScalarType()); }
  template <class T>
  TensorOptions& dtype() {
    dtype_ = CppTypeToScalarType<T>::value;
    return *this;
  }
  [[nodiscard]] TensorOptions device(warpwright::Maybe<Device> place) const {
    return with(&TensorOptions::device_, place);
  }
  [[nodiscard]] TensorOptions device(Device place) const { return device(warpwright::Maybe<Device>(place)); }
  [[nodiscard]] TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  [[nodiscard]] TensorOptions device(const char* text) const { return device(Device(text)); }
  [[nodiscard]] TensorOptions device_index(DeviceIndex index) const { return device(kCUDA, index); }
  [[nodiscard]] TensorOptions layout(Layout layout) const { return with(&TensorOptions::layout_, layout); }
  [[nodiscard]] TensorOptions requires_grad(bool wanted) const {
    return with(&TensorOptions::requires_grad_, wanted);
  }
  [[nodiscard]] TensorOptions pinned_memory(bool) const { return *this; }
  [[nodiscard]] TensorOptions memory_format(MemoryFormat format) const { return with(&TensorOptions::format_, format); }

  ScalarType scalar_type() const { return dtype_.value_or(kFloat); }
  caffe2::TypeMeta dtype() const { return scalar_type(); }
  Device device() const { return device_.value_or(Device(kCPU)); }
  DeviceIndex device_index() const { return device().index(); }
  Layout layout() const { return layout_; }
  bool requires_grad() const { return requires_grad_; }
  bool is_cuda() const { return device().is_cuda(); }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
#if defined(__CUDA_ARCH__) && !defined(WARPWRIGHT_CAPTURE)
  std::optional<MemoryFormat> memory_format_opt() const;
  std::optional<ScalarType> scalar_type_opt() const;
  std::optional<Device> device_opt() const;
#else
  std::optional<MemoryFormat> memory_format_opt() const { return format_; }
  std::optional<ScalarType> scalar_type_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
#endif

 private:
  template <class T, class V>
  TensorOptions with(T TensorOptions::*field, V value) const {
    TensorOptions changed = *this;
    changed.*field = value;
    return changed;
  }

  warpwright::Maybe<ScalarType> dtype_;
  warpwright::Maybe<Device> device_;
  warpwright::Maybe<MemoryFormat> format_;
  Layout layout_ = kStrided;
  bool requires_grad_ = false;
};

std::ostream& operator<<(std::ostream& out, const TensorOptions& options);

inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions dtype(caffe2::TypeMeta type) { return TensorOptions(type); }
template <class T>
inline TensorOptions dtype() { return TensorOptions(CppTypeToScalarType<T>::value); }
inline TensorOptions device(Device place) { return TensorOptions(place); }
inline TensorOptions device(DeviceType type, DeviceIndex index = -1) { return TensorOptions(Device(type, index)); }
inline TensorOptions layout(Layout layout) { return TensorOptions(layout); }
inline TensorOptions requires_grad(bool wanted = true) { return TensorOptions().requires_grad(wanted); }

}  // namespace c10

#define WARPWRIGHT_EXPORT_OPTIONS \
  using c10::TensorOptions; using c10::device; using c10::dtype; using c10::layout; using c10::requires_grad;
namespace at {
WARPWRIGHT_EXPORT_OPTIONS
}
namespace torch {
WARPWRIGHT_EXPORT_OPTIONS
}
#undef WARPWRIGHT_EXPORT_OPTIONS

#endif
