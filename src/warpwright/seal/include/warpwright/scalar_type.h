// Element types: torch's ScalarType with torch's numbering, and their properties.
#ifndef WARPWRIGHT_SCALAR_TYPE_H
#define WARPWRIGHT_SCALAR_TYPE_H

#include "warpwright/complex.h"

// The emulator replaces both, to compute in other numbers.
#ifndef WARPWRIGHT_FLOAT
#define WARPWRIGHT_FLOAT float
#define WARPWRIGHT_DOUBLE double
#endif

// X(C++ type, name in C++, name in Python): in torch's order, which fixes the numbers.
#define WARPWRIGHT_SCALAR_TYPES(X)                  \
  X(uint8_t, Byte, "uint8")                         \
  X(int8_t, Char, "int8")                           \
  X(int16_t, Short, "int16")                        \
  X(int, Int, "int32")                              \
  X(int64_t, Long, "int64")                         \
  X(c10::Half, Half, "float16")                     \
  X(WARPWRIGHT_FLOAT, Float, "float32")             \
  X(WARPWRIGHT_DOUBLE, Double, "float64")           \
  X(c10::complex<c10::Half>, ComplexHalf, "complex32") \
  X(c10::complex<float>, ComplexFloat, "complex64") \
  X(c10::complex<double>, ComplexDouble, "complex128") \
  X(bool, Bool, "bool")

// torch numbers its quantised types 12 to 14 and 16, 17; extensions name them, kernels never see them.
#define WARPWRIGHT_LATER_SCALAR_TYPES(X)                     \
  X(c10::BFloat16, BFloat16, "bfloat16", 15)                 \
  X(c10::Float8_e5m2, Float8_e5m2, "float8_e5m2", 23)        \
  X(c10::Float8_e4m3fn, Float8_e4m3fn, "float8_e4m3fn", 24)  \
  X(uint16_t, UInt16, "uint16", 27)                          \
  X(uint32_t, UInt32, "uint32", 28)                          \
  X(uint64_t, UInt64, "uint64", 29)

namespace c10 {

enum class ScalarType : int8_t {
#define WARPWRIGHT_ENUMERATOR(CPP, NAME, PYTHON) NAME,
  WARPWRIGHT_SCALAR_TYPES(WARPWRIGHT_ENUMERATOR)
#undef WARPWRIGHT_ENUMERATOR
#define WARPWRIGHT_ENUMERATOR(CPP, NAME, PYTHON, NUMBER) NAME = NUMBER,
  WARPWRIGHT_LATER_SCALAR_TYPES(WARPWRIGHT_ENUMERATOR)
#undef WARPWRIGHT_ENUMERATOR
  QInt8 = 12, QUInt8 = 13, QInt32 = 14, Undefined = 44, NumOptions = 45
};

namespace impl {
template <ScalarType>
struct ScalarTypeToCPPType;
template <ScalarType N>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<N>::type;
}  // namespace impl

template <class T>
struct CppTypeToScalarType;

#define WARPWRIGHT_CORRESPONDENCE(CPP, NAME, ...)                                 \
  template <>                                                                     \
  struct CppTypeToScalarType<CPP> {                                               \
    static constexpr ScalarType value = ScalarType::NAME;                         \
  };                                                                              \
  template <>                                                                     \
  struct impl::ScalarTypeToCPPType<ScalarType::NAME> {                            \
    using type = CPP;                                                             \
  };                                                                              \
  constexpr ScalarType k##NAME = ScalarType::NAME;
WARPWRIGHT_SCALAR_TYPES(WARPWRIGHT_CORRESPONDENCE)
WARPWRIGHT_LATER_SCALAR_TYPES(WARPWRIGHT_CORRESPONDENCE)
#undef WARPWRIGHT_CORRESPONDENCE

// On Linux int64_t is long; long long has the same size and kernels use both words for it.
template <>
struct CppTypeToScalarType<long long> : CppTypeToScalarType<int64_t> {};

size_t elementSize(ScalarType type);
const char* toString(ScalarType type);
ScalarType promoteTypes(ScalarType a, ScalarType b);
std::ostream& operator<<(std::ostream& out, ScalarType type);

constexpr bool isComplexType(ScalarType t) {
  return t == kComplexHalf || t == kComplexFloat || t == kComplexDouble;
}
constexpr bool isReducedFloatingType(ScalarType t) {
  return t == kHalf || t == kBFloat16 || t == kFloat8_e5m2 || t == kFloat8_e4m3fn;
}
constexpr bool isFloatingType(ScalarType t) { return t == kFloat || t == kDouble || isReducedFloatingType(t); }
constexpr bool isIntegralType(ScalarType t, bool includeBool = false) {
  return t <= kLong || (t >= kUInt16 && t <= kUInt64) || (includeBool && t == kBool);
}

}  // namespace c10

// torch::dtype() of a tensor is a TypeMeta: it compares and converts like the scalar type, but prints in lower case.
namespace caffe2 {
class TypeMeta {
 public:
  constexpr TypeMeta(c10::ScalarType type = c10::ScalarType::Undefined) : type_(type) {}
  template <class T>
  static constexpr TypeMeta Make() {
    return c10::CppTypeToScalarType<T>::value;
  }
  constexpr c10::ScalarType toScalarType() const { return type_; }
  constexpr operator c10::ScalarType() const { return type_; }
  size_t itemsize() const { return c10::elementSize(type_); }
  const char* name() const { return c10::toString(type_); }
  template <class T>
  constexpr bool Match() const {
    return type_ == c10::CppTypeToScalarType<T>::value;
  }
  friend constexpr bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
  friend constexpr bool operator!=(TypeMeta a, TypeMeta b) { return a.type_ != b.type_; }
  friend constexpr bool operator==(TypeMeta a, c10::ScalarType b) { return a.type_ == b; }
  friend constexpr bool operator!=(TypeMeta a, c10::ScalarType b) { return a.type_ != b; }
  friend constexpr bool operator==(c10::ScalarType a, TypeMeta b) { return a == b.type_; }
  friend constexpr bool operator!=(c10::ScalarType a, TypeMeta b) { return a != b.type_; }

 private:
  c10::ScalarType type_;
};
std::ostream& operator<<(std::ostream& out, TypeMeta type);
template <class T>
constexpr size_t itemsize() {
  return sizeof(T);
}
}  // namespace caffe2

namespace c10 {
inline ScalarType typeMetaToScalarType(caffe2::TypeMeta type) { return type.toScalarType(); }
inline caffe2::TypeMeta scalarTypeToTypeMeta(ScalarType type) { return type; }

constexpr ScalarType kU8 = kByte, kUInt8 = kByte, kI8 = kChar, kInt8 = kChar, kI16 = kShort, kInt16 = kShort;
constexpr ScalarType kI32 = kInt, kInt32 = kInt, kI64 = kLong, kInt64 = kLong, kF16 = kHalf, kFloat16 = kHalf;
constexpr ScalarType kF32 = kFloat, kFloat32 = kFloat, kF64 = kDouble, kFloat64 = kDouble;
constexpr ScalarType kComplex64 = kComplexFloat, kComplex128 = kComplexDouble;
}  // namespace c10

// torch repeats these names in at:: and torch::.
#define WARPWRIGHT_EXPORT_SCALAR_TYPES                                                                             \
  using c10::CppTypeToScalarType; using c10::ScalarType; using c10::elementSize; using c10::isComplexType;         \
  using c10::isFloatingType; using c10::isIntegralType; using c10::isReducedFloatingType; using c10::promoteTypes; \
  using c10::toString; using c10::kByte; using c10::kChar; using c10::kShort; using c10::kInt; using c10::kLong;   \
  using c10::kHalf; using c10::kFloat; using c10::kDouble; using c10::kComplexHalf; using c10::kComplexFloat;      \
  using c10::kComplexDouble; using c10::kBool; using c10::kBFloat16; using c10::kFloat8_e5m2;                      \
  using c10::kFloat8_e4m3fn; using c10::kUInt16; using c10::kUInt32; using c10::kUInt64; using c10::kU8;           \
  using c10::kUInt8; using c10::kI8; using c10::kInt8; using c10::kI16; using c10::kInt16; using c10::kI32;        \
  using c10::kInt32; using c10::kI64; using c10::kInt64; using c10::kF16; using c10::kFloat16; using c10::kF32;    \
  using c10::kFloat32; using c10::kF64; using c10::kFloat64; using c10::kComplex64; using c10::kComplex128;        \
  using c10::typeMetaToScalarType; using c10::scalarTypeToTypeMeta;
namespace at {
WARPWRIGHT_EXPORT_SCALAR_TYPES
}
namespace torch {
WARPWRIGHT_EXPORT_SCALAR_TYPES
using Dtype = c10::ScalarType;
}  // namespace torch
#undef WARPWRIGHT_EXPORT_SCALAR_TYPES

#endif
