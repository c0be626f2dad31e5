// Device, Layout and MemoryFormat of a tensor.
#ifndef WARPWRIGHT_DEVICE_H
#define WARPWRIGHT_DEVICE_H

#include "warpwright/array_ref.h"

namespace c10 {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, HIP = 6, Meta = 14 };
using DeviceIndex = int8_t;

constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;

struct Device {
  using Type = DeviceType;
  constexpr Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  Device(const char* text);
  Device(const std::basic_string<char>& text);

  constexpr DeviceType type() const { return type_; }
  constexpr DeviceIndex index() const { return index_; }
  constexpr bool has_index() const { return index_ >= 0; }
  constexpr bool is_cuda() const { return type_ == DeviceType::CUDA; }
  constexpr bool is_cpu() const { return type_ == DeviceType::CPU; }
  void set_index(DeviceIndex index) { index_ = index; }
  std::basic_string<char> str() const;
  // There is one GPU, so "cuda" and "cuda:0" are the same device.
  friend constexpr bool operator==(Device a, Device b) { return a.type_ == b.type_; }
  friend constexpr bool operator!=(Device a, Device b) { return a.type_ != b.type_; }

 private:
  DeviceType type_;
  DeviceIndex index_;
};
std::ostream& operator<<(std::ostream& out, Device device);
std::ostream& operator<<(std::ostream& out, DeviceType type);

enum class Layout : int8_t { Strided, Sparse };
constexpr Layout kStrided = Layout::Strided;
constexpr Layout kSparse = Layout::Sparse;
std::ostream& operator<<(std::ostream& out, Layout layout);

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

std::ostream& operator<<(std::ostream& out, MemoryFormat format);

inline MemoryFormat get_contiguous_memory_format() { return MemoryFormat::Contiguous; }

}  // namespace c10

#define LEGACY_CONTIGUOUS_MEMORY_FORMAT c10::get_contiguous_memory_format()

#define WARPWRIGHT_EXPORT_DEVICES                                                                         \
  using c10::Device; using c10::DeviceIndex; using c10::DeviceType; using c10::Layout; using c10::MemoryFormat; \
  using c10::kCPU; using c10::kCUDA; using c10::kSparse; using c10::kStrided;
namespace at {
WARPWRIGHT_EXPORT_DEVICES
}
namespace torch {
WARPWRIGHT_EXPORT_DEVICES
}
#undef WARPWRIGHT_EXPORT_DEVICES

#endif
