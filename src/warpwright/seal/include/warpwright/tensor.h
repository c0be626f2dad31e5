// Tensor: shape, strides, element type and a place on the device, without contents.
//
// One declaration serves the device pass, which throws host code away, and the capture, which links the definitions in
// recorder/. So almost everything here is declared only.
#ifndef WARPWRIGHT_TENSOR_H
#define WARPWRIGHT_TENSOR_H

#include "warpwright/accessor.h"
#include "warpwright/families.h"
#include "warpwright/index.h"
#include "warpwright/options.h"

namespace at {

class Tensor;
struct TensorImpl;
using TensorList = c10::ArrayRef<Tensor>;
using ITensorListRef = TensorList;

namespace cuda {
class CUDAStream;
}

// The result of the old x.type(): dispatches like a scalar type and has is_cuda().
class DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(Device device, ScalarType type) : device_(device), type_(type) {}
  ScalarType scalarType() const { return type_; }
  operator ScalarType() const { return type_; }
  bool is_cuda() const { return device_.is_cuda(); }
  Device device() const { return device_; }
  TensorOptions options() const { return TensorOptions(type_).device(device_); }
  std::basic_string<char> toString() const;
  bool operator==(const DeprecatedTypeProperties& o) const { return type_ == o.type_ && device_ == o.device_; }
  bool operator!=(const DeprecatedTypeProperties& o) const { return !(*this == o); }

 private:
  Device device_;
  ScalarType type_;
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorImpl* impl);
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept : impl_(other.impl_) { other.impl_ = nullptr; }
  ~Tensor();
  Tensor& operator=(const Tensor& other) &;
  Tensor& operator=(Tensor&& other) & noexcept;
  // Assigning to a temporary writes through it, as in x[0] = y.
  Tensor& operator=(const Tensor& other) &&;
  Tensor& operator=(const Scalar& value) &&;

  // Properties.
  bool defined() const { return impl_ != nullptr; }
  TensorImpl* unsafeGetTensorImpl() const { return impl_; }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  int64_t dim() const;
  int64_t ndimension() const { return dim(); }
  int64_t size(int64_t d) const;
  int64_t stride(int64_t d) const;
  IntArrayRef sizes() const;
  IntArrayRef strides() const;
  int64_t sym_size(int64_t d) const { return size(d); }
  IntArrayRef sym_sizes() const { return sizes(); }
  int64_t numel() const;
  int64_t element_size() const;
  int64_t itemsize() const { return element_size(); }
  size_t nbytes() const;
  int64_t storage_offset() const;
  ScalarType scalar_type() const;
  caffe2::TypeMeta dtype() const { return scalar_type(); }
  DeprecatedTypeProperties type() const { return {device(), scalar_type()}; }
  Device device() const;
  DeviceIndex get_device() const;
  Layout layout() const { return c10::kStrided; }
  TensorOptions options() const;
  bool is_cuda() const { return device().is_cuda(); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_non_overlapping_and_dense() const;
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool is_complex() const { return isComplexType(scalar_type()); }
  bool is_signed() const { return scalar_type() != kByte && scalar_type() != kBool; }
  bool is_sparse() const { return false; }
  bool is_quantized() const { return false; }
  bool is_pinned() const { return false; }
  bool is_leaf() const { return true; }
  bool is_same_size(const Tensor& other) const { return sizes() == other.sizes(); }
  bool is_alias_of(const Tensor& other) const;
  MemoryFormat suggest_memory_format() const;
  bool requires_grad() const;
  const Tensor& requires_grad_(bool wanted = true) const;
  const Tensor& set_requires_grad(bool wanted) const { return requires_grad_(wanted); }
  Tensor detach() const;
  Tensor data() const { return detach(); }
  const Tensor& grad() const;
  const Tensor& expect_contiguous() const;
  std::basic_string<char> toString() const;
  void reset();
  void swap(Tensor& other) { std::swap(impl_, other.impl_); }
  int64_t use_count() const;

  // Memory and device.
  void* data_ptr() const;
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <class T>
  T* data_ptr() const {
    return static_cast<T*>(data_ptr_as(CppTypeToScalarType<std::remove_const_t<T>>::value));
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    require_dim(N);
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = int64_t>
  GenericPackedTensorAccessor<T, N, Traits, I> generic_packed_accessor() const& {
    require_dim(N);
    return {static_cast<typename Traits<T>::PtrType>(data_ptr<T>()), sizes().data(), strides().data()};
  }
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, Traits> packed_accessor32() const& {
    return generic_packed_accessor<T, N, Traits, int32_t>();
  }
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, Traits> packed_accessor64() const& {
    return generic_packed_accessor<T, N, Traits, int64_t>();
  }
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = int64_t>
  GenericPackedTensorAccessor<T, N, Traits, I> packed_accessor() const& {
    return generic_packed_accessor<T, N, Traits, I>();
  }
  // Defined only for tensors that the host code filled itself.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }

  // Other views of the same memory.
  Tensor view(IntArrayRef shape) const;
  Tensor view(ScalarType type) const;
  Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
  Tensor reshape(IntArrayRef shape) const;
  Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
  Tensor flatten(int64_t start = 0, int64_t end = -1) const;
  Tensor unflatten(int64_t dim, IntArrayRef sizes) const;
  Tensor ravel() const { return flatten(); }
  Tensor squeeze() const;
  Tensor squeeze(int64_t dim) const;
  Tensor& squeeze_(int64_t dim);
  Tensor unsqueeze(int64_t dim) const;
  Tensor& unsqueeze_(int64_t dim);
  Tensor transpose(int64_t a, int64_t b) const;
  Tensor swapaxes(int64_t a, int64_t b) const { return transpose(a, b); }
  Tensor swapdims(int64_t a, int64_t b) const { return transpose(a, b); }
  Tensor t() const;
  Tensor mT() const { return transpose(-2, -1); }
  Tensor numpy_T() const;
  Tensor permute(IntArrayRef order) const;
  Tensor movedim(int64_t source, int64_t target) const;
  Tensor expand(IntArrayRef shape, bool implicit = false) const;
  Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
  Tensor broadcast_to(IntArrayRef shape) const { return expand(shape); }
  Tensor select(int64_t dim, int64_t index) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  Tensor slice(int64_t dim = 0, warpwright::Maybe<int64_t> start = std::nullopt,
               warpwright::Maybe<int64_t> end = std::nullopt, int64_t step = 1) const;
  Tensor diagonal(int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) const;
  Tensor as_strided(IntArrayRef shape, IntArrayRef stride, warpwright::Maybe<int64_t> offset = std::nullopt) const;
  Tensor unfold(int64_t dim, int64_t size, int64_t step) const;
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& value);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value);
  std::vector<Tensor> split(int64_t size, int64_t dim = 0) const;
  std::vector<Tensor> split(IntArrayRef sizes, int64_t dim = 0) const { return split_with_sizes(sizes, dim); }
  std::vector<Tensor> split_with_sizes(IntArrayRef sizes, int64_t dim = 0) const;
  std::vector<Tensor> chunk(int64_t chunks, int64_t dim = 0) const;
  std::vector<Tensor> unbind(int64_t dim = 0) const;
  const Tensor& resize_(IntArrayRef shape) const;

  // Copies.
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  Tensor clone(warpwright::Maybe<MemoryFormat> format = std::nullopt) const;
  Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false) const;
  Tensor to(ScalarType type, bool non_blocking = false, bool copy = false) const;
  Tensor to(caffe2::TypeMeta type) const { return to(type.toScalarType()); }
  Tensor to(Device device, bool non_blocking = false) const;
  Tensor to(DeviceType device) const { return to(Device(device)); }
  Tensor to(Device device, ScalarType type, bool non_blocking = false, bool copy = false) const;
  Tensor to(const Tensor& like) const { return to(like.device(), like.scalar_type()); }
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor type_as(const Tensor& like) const { return to(like.scalar_type()); }
  Tensor cuda() const { return to(Device(kCUDA)); }
  Tensor cpu() const { return to(Device(kCPU)); }
  Tensor pin_memory() const { return *this; }
  Tensor& copy_(const Tensor& source, bool non_blocking = false) const;
  Tensor repeat(IntArrayRef times) const;
  Tensor repeat_interleave(int64_t times, warpwright::Maybe<int64_t> dim = std::nullopt) const;
  Tensor roll(IntArrayRef shifts, IntArrayRef dims = {}) const;
  Tensor flip(IntArrayRef dims) const;
  Tensor tril(int64_t diagonal = 0) const;
  Tensor triu(int64_t diagonal = 0) const;

  // New tensors in the likeness of this one.
  Tensor new_empty(IntArrayRef shape, const TensorOptions& options = {}) const;
  Tensor new_zeros(IntArrayRef shape, const TensorOptions& options = {}) const;
  Tensor new_ones(IntArrayRef shape, const TensorOptions& options = {}) const;
  Tensor new_full(IntArrayRef shape, const Scalar& value, const TensorOptions& options = {}) const;

  // In place.
  Tensor& zero_() const;
  Tensor& fill_(const Scalar& value) const;
  Tensor& fill_(const Tensor& value) const;
  Tensor& add_(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor& add_(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor& sub_(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor& sub_(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor& mul_(const Tensor& other) const;
  Tensor& mul_(const Scalar& other) const;
  Tensor& div_(const Tensor& other) const;
  Tensor& div_(const Scalar& other) const;
  Tensor& pow_(const Scalar& exponent) const;
  Tensor& addcmul_(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  Tensor& addcdiv_(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  Tensor& addmm_(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) const;
  Tensor& clamp_(const warpwright::Maybe<Scalar>& low, const warpwright::Maybe<Scalar>& high = std::nullopt) const;
  Tensor& clamp_min_(const Scalar& low) const;
  Tensor& clamp_max_(const Scalar& high) const;
  Tensor& masked_fill_(const Tensor& mask, const Scalar& value) const;
  Tensor& scatter_add_(int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor& index_add_(int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1) const;
  Tensor& operator+=(const Tensor& o) const { return add_(o); }
  Tensor& operator+=(const Scalar& o) const { return add_(o); }
  Tensor& operator-=(const Tensor& o) const { return sub_(o); }
  Tensor& operator-=(const Scalar& o) const { return sub_(o); }
  Tensor& operator*=(const Tensor& o) const { return mul_(o); }
  Tensor& operator*=(const Scalar& o) const { return mul_(o); }
  Tensor& operator/=(const Tensor& o) const { return div_(o); }
  Tensor& operator/=(const Scalar& o) const { return div_(o); }

  // Element by element.
#define WARPWRIGHT_DECLARE(NAME, RESULT) \
  Tensor NAME() const;                   \
  Tensor& NAME##_() const;
  WARPWRIGHT_UNARY_METHODS(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE
#define WARPWRIGHT_DECLARE(NAME) Tensor NAME() const;
  WARPWRIGHT_UNARY_TESTS(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE
#define WARPWRIGHT_DECLARE(NAME, OP)                                    \
  Tensor NAME(const Tensor& other) const;                               \
  Tensor NAME(const Scalar& other) const;                               \
  Tensor operator OP(const Tensor& other) const { return NAME(other); } \
  Tensor operator OP(const Scalar& other) const { return NAME(other); }
  WARPWRIGHT_COMPARISONS(WARPWRIGHT_DECLARE)
  WARPWRIGHT_BITWISE(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE
#define WARPWRIGHT_DECLARE(NAME) Tensor NAME(const Tensor& other) const;
  WARPWRIGHT_PAIRWISE(WARPWRIGHT_DECLARE)
  WARPWRIGHT_LOGICAL(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE
  Tensor operator-() const { return neg(); }
  Tensor operator~() const { return bitwise_not(); }
  Tensor operator!() const { return logical_not(); }
  Tensor add(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor add(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor sub(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor sub(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor mul(const Tensor& other) const;
  Tensor mul(const Scalar& other) const;
  Tensor div(const Tensor& other) const;
  Tensor div(const Scalar& other) const;
  Tensor pow(const Tensor& exponent) const;
  Tensor pow(const Scalar& exponent) const;
  Tensor remainder(const Tensor& other) const;
  Tensor remainder(const Scalar& other) const;
  Tensor fmod(const Tensor& other) const;
  Tensor fmod(const Scalar& other) const;
  Tensor addcmul(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  Tensor addcdiv(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  Tensor lerp(const Tensor& end, const Scalar& weight) const;
  Tensor clamp(const warpwright::Maybe<Scalar>& low, const warpwright::Maybe<Scalar>& high = std::nullopt) const;
  Tensor clip(const warpwright::Maybe<Scalar>& low, const warpwright::Maybe<Scalar>& high = std::nullopt) const {
    return clamp(low, high);
  }
  Tensor clamp_min(const Scalar& low) const;
  Tensor clamp_max(const Scalar& high) const;
  Tensor softmax(int64_t dim, warpwright::Maybe<ScalarType> dtype = std::nullopt) const;
  Tensor log_softmax(int64_t dim, warpwright::Maybe<ScalarType> dtype = std::nullopt) const;
  Tensor cumsum(int64_t dim, warpwright::Maybe<ScalarType> dtype = std::nullopt) const;
  Tensor cumprod(int64_t dim, warpwright::Maybe<ScalarType> dtype = std::nullopt) const;
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
  Tensor where(const Tensor& condition, const Tensor& other) const;

  // Reductions.
  Tensor sum(warpwright::Maybe<ScalarType> dtype = std::nullopt) const;
  Tensor sum(OptionalIntArrayRef dims, bool keepdim = false, warpwright::Maybe<ScalarType> dtype = std::nullopt) const;
  Tensor mean(warpwright::Maybe<ScalarType> dtype = std::nullopt) const;
  Tensor mean(OptionalIntArrayRef dims, bool keepdim = false, warpwright::Maybe<ScalarType> dtype = std::nullopt) const;
  Tensor prod(warpwright::Maybe<ScalarType> dtype = std::nullopt) const;
  Tensor prod(int64_t dim, bool keepdim = false, warpwright::Maybe<ScalarType> dtype = std::nullopt) const;
  Tensor max() const;
  Tensor max(const Tensor& other) const { return maximum(other); }
  std::tuple<Tensor, Tensor> max(int64_t dim, bool keepdim = false) const;
  Tensor min() const;
  Tensor min(const Tensor& other) const { return minimum(other); }
  std::tuple<Tensor, Tensor> min(int64_t dim, bool keepdim = false) const;
  Tensor amax(IntArrayRef dims = {}, bool keepdim = false) const;
  Tensor amin(IntArrayRef dims = {}, bool keepdim = false) const;
  Tensor argmax(warpwright::Maybe<int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor argmin(warpwright::Maybe<int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor all() const;
  Tensor all(int64_t dim, bool keepdim = false) const;
  Tensor any() const;
  Tensor any(int64_t dim, bool keepdim = false) const;
  Tensor var(bool unbiased) const;
  Tensor var(OptionalIntArrayRef dims, bool unbiased, bool keepdim = false) const;
  Tensor var(OptionalIntArrayRef dims = std::nullopt, const warpwright::Maybe<Scalar>& correction = std::nullopt,
             bool keepdim = false) const;
  Tensor std(bool unbiased) const;
  Tensor std(OptionalIntArrayRef dims, bool unbiased, bool keepdim = false) const;
  Tensor std(OptionalIntArrayRef dims = std::nullopt, const warpwright::Maybe<Scalar>& correction = std::nullopt,
             bool keepdim = false) const;
  Tensor norm(const Scalar& p = 2) const;
  Tensor norm(const warpwright::Maybe<Scalar>& p, IntArrayRef dims, bool keepdim = false) const;
  Tensor logsumexp(IntArrayRef dims, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> topk(int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true) const;
  std::tuple<Tensor, Tensor> sort(int64_t dim = -1, bool descending = false) const;
  Tensor argsort(int64_t dim = -1, bool descending = false) const;

  // Products and lookups.
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& other) const;
  Tensor bmm(const Tensor& other) const;
  Tensor mv(const Tensor& vector) const;
  Tensor dot(const Tensor& other) const;
  Tensor addmm(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) const;
  Tensor baddbmm(const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1) const;
  Tensor outer(const Tensor& other) const;
  Tensor index_select(int64_t dim, const Tensor& index) const;
  Tensor gather(int64_t dim, const Tensor& index) const;
  Tensor scatter_add(int64_t dim, const Tensor& index, const Tensor& source) const;

  // A stream that uses the memory; the record is in order anyway.
  void record_stream(const cuda::CUDAStream&) const {}

 private:
  void* data_ptr_as(ScalarType type) const;
  void require_dim(int64_t dim) const;

  TensorImpl* impl_ = nullptr;
};
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

#define WARPWRIGHT_OPERATOR(OP, NAME)                                               \
  inline Tensor operator OP(const Tensor& a, const Tensor& b) { return a.NAME(b); } \
  inline Tensor operator OP(const Tensor& a, const Scalar& b) { return a.NAME(b); }
WARPWRIGHT_OPERATOR(+, add)
WARPWRIGHT_OPERATOR(-, sub)
WARPWRIGHT_OPERATOR(*, mul)
WARPWRIGHT_OPERATOR(/, div)
WARPWRIGHT_OPERATOR(%, remainder)
#undef WARPWRIGHT_OPERATOR
inline Tensor operator+(const Scalar& a, const Tensor& b) { return b.add(a); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return b.mul(a); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return b.neg().add(a); }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return b.reciprocal().mul(a); }

}  // namespace at

namespace torch {
using at::Tensor;
using at::TensorList;
}  // namespace torch

#endif
