// Names, sizes and promotion of element types, and how torch prints small things.
#include "impl.h"

namespace c10 {

size_t elementSize(ScalarType type) {
  switch (type) {
#define WARPWRIGHT_SIZE(CPP, NAME, ...) \
  case ScalarType::NAME: return sizeof(CPP);
    WARPWRIGHT_SCALAR_TYPES(WARPWRIGHT_SIZE)
    WARPWRIGHT_LATER_SCALAR_TYPES(WARPWRIGHT_SIZE)
#undef WARPWRIGHT_SIZE
    default: warpwright::unsupported("quantised dtypes");
  }
}

const char* toString(ScalarType type) {
  switch (type) {
#define WARPWRIGHT_NAME(CPP, NAME, ...) \
  case ScalarType::NAME: return #NAME;
    WARPWRIGHT_SCALAR_TYPES(WARPWRIGHT_NAME)
    WARPWRIGHT_LATER_SCALAR_TYPES(WARPWRIGHT_NAME)
#undef WARPWRIGHT_NAME
    default: return "Undefined";
  }
}

namespace {
// bool < integers < floats < complex; inside a category the wider wins, and two different halves give float.
int category(ScalarType t) { return isComplexType(t) ? 3 : isFloatingType(t) ? 2 : isIntegralType(t) ? 1 : 0; }
}  // namespace

ScalarType promoteTypes(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  size_t wide_a = elementSize(a), wide_b = elementSize(b);
  if (wide_a != wide_b) return wide_a > wide_b ? a : b;
  if (category(a) == 2) return kFloat;
  return wide_a == 1 ? kShort : promoteTypes(a, wide_a == 2 ? kInt : kLong);
}

std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << toString(type); }
std::ostream& operator<<(std::ostream& out, DeviceType type) {
  return out << (type == DeviceType::CUDA ? "cuda" : type == DeviceType::CPU ? "cpu" : "other");
}
std::ostream& operator<<(std::ostream& out, Device device) { return out << device.str(); }
std::ostream& operator<<(std::ostream& out, Layout layout) {
  return out << (layout == Layout::Strided ? "Strided" : "Sparse");
}
std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Preserve: return out << "Preserve";
    case MemoryFormat::ChannelsLast: return out << "ChannelsLast";
    case MemoryFormat::ChannelsLast3d: return out << "ChannelsLast3d";
    default: return out << "Contiguous";
  }
}
std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  out << "TensorOptions(dtype=" << options.dtype() << ", device=" << options.device() << ", layout=" << options.layout();
  return out << ", requires_grad=" << (options.requires_grad() ? "true" : "false") << ")";
}
std::ostream& operator<<(std::ostream& out, const Scalar& value) {
  if (value.isFloatingPoint()) return out << value.toDouble();
  return out << value.toLong();
}

std::string Device::str() const {
  std::ostringstream out;
  out << type_;
  if (has_index()) out << ':' << static_cast<int>(index_);
  return out.str();
}
Device::Device(const std::string& text) : type_(DeviceType::CPU), index_(-1) {
  std::string kind = text.substr(0, text.find(':'));
  TORCH_CHECK(kind == "cuda" || kind == "cpu", "unknown device: ", text);
  type_ = kind == "cuda" ? DeviceType::CUDA : DeviceType::CPU;
  if (kind.size() < text.size()) index_ = static_cast<DeviceIndex>(std::atoi(text.c_str() + kind.size() + 1));
}
Device::Device(const char* text) : Device(std::string(text)) {}

}  // namespace c10

namespace caffe2 {
// torch prints a TypeMeta as the C++ type.
std::ostream& operator<<(std::ostream& out, TypeMeta type) {
  switch (type.toScalarType()) {
#define WARPWRIGHT_NAME(CPP, NAME, ...) \
  case c10::ScalarType::NAME: return out << #CPP;
    WARPWRIGHT_SCALAR_TYPES(WARPWRIGHT_NAME)
    WARPWRIGHT_LATER_SCALAR_TYPES(WARPWRIGHT_NAME)
#undef WARPWRIGHT_NAME
    default: return out << "nullptr (uninitialized)";
  }
}
}  // namespace caffe2

namespace warpwright {

const char* python_name(c10::ScalarType type) {
  switch (type) {
#define WARPWRIGHT_NAME(CPP, NAME, PYTHON, ...) \
  case c10::ScalarType::NAME: return PYTHON;
    WARPWRIGHT_SCALAR_TYPES(WARPWRIGHT_NAME)
    WARPWRIGHT_LATER_SCALAR_TYPES(WARPWRIGHT_NAME)
#undef WARPWRIGHT_NAME
    default: return "undefined";
  }
}

c10::ScalarType type_named(const std::string& name) {
#define WARPWRIGHT_NAME(CPP, NAME, PYTHON, ...) \
  if (name == PYTHON) return c10::ScalarType::NAME;
  WARPWRIGHT_SCALAR_TYPES(WARPWRIGHT_NAME)
  WARPWRIGHT_LATER_SCALAR_TYPES(WARPWRIGHT_NAME)
#undef WARPWRIGHT_NAME
  throw std::runtime_error("bad request: unknown dtype " + name);
}

Json json_of(const c10::Scalar& value) {
  return value.isFloatingPoint() ? Json(value.toDouble())
         : value.isBoolean()     ? Json(value.toBool())
                                 : Json(value.toLong());
}
Json json_of(const std::optional<c10::Scalar>& value) { return value ? json_of(*value) : Json(); }
Json json_of(const std::optional<c10::ScalarType>& type) {
  return type ? Json(Object{{"dtype", python_name(*type)}}) : Json();
}
Json json_of(c10::IntArrayRef list) { return Json::list(list.data(), list.size()); }

}  // namespace warpwright
