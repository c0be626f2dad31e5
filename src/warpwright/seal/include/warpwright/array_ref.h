// Lists passed by reference: ArrayRef and its relatives, optional, and the small vectors of c10.
#ifndef WARPWRIGHT_ARRAY_REF_H
#define WARPWRIGHT_ARRAY_REF_H

#include "warpwright/check.h"
#include "warpwright/maybe.h"

namespace c10 {

using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
#ifndef WARPWRIGHT_LEAN_STANDARD
using string_view = std::string_view;
#endif

// Vectors that torch keeps on the stack; here a plain std::vector suffices.
template <class T, unsigned N = 5>
class SmallVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
};

template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(end - begin) {}
  template <class A>
  ArrayRef(const std::vector<T, A>& list) : data_(list.data()), size_(list.size()) {
    static_assert(!std::is_same<T, bool>::value, "ArrayRef<bool> cannot refer to a vector of bits");
  }
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& list) : data_(list.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&list)[N]) : data_(list), size_(N) {}
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : data_(list.begin() == list.end() ? nullptr : list.begin()), size_(list.size()) {}

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const {
    TORCH_CHECK(i < size_, "ArrayRef: invalid index ", i, " of ", size_);
    return data_[i];
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  constexpr bool equals(ArrayRef other) const { return std::equal(begin(), end(), other.begin(), other.end()); }
  constexpr ArrayRef slice(size_t from, size_t count) const { return ArrayRef(data_ + from, count); }
  constexpr ArrayRef slice(size_t from) const { return ArrayRef(data_ + from, size_ - from); }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  operator std::vector<T>() const { return vec(); }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) { return a.equals(b); }
template <class T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) { return !a.equals(b); }
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) { return b.equals(a); }
template <class T>
bool operator!=(const std::vector<T>& a, ArrayRef<T> b) { return !b.equals(a); }
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) { return a.equals(b); }
template <class T>
bool operator!=(ArrayRef<T> a, const std::vector<T>& b) { return !a.equals(b); }

// torch keeps a list alive inside its optional references; a referenced temporary must outlive the full expression.
template <class T>
class OptionalArrayRef {
 public:
  constexpr OptionalArrayRef() = default;
  constexpr OptionalArrayRef(std::nullopt_t) {}
  constexpr OptionalArrayRef(ArrayRef<T> list) : list_(list), present_(true) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& list) : list_(list), present_(true) {}
  constexpr OptionalArrayRef(const T& one) : list_(one), present_(true) {}
  OptionalArrayRef(const std::vector<T>& list) : list_(list), present_(true) {}
  template <size_t N>
  constexpr OptionalArrayRef(const std::array<T, N>& list) : list_(list), present_(true) {}
  constexpr OptionalArrayRef(const std::optional<ArrayRef<T>>& list)
      : list_(list ? *list : ArrayRef<T>()), present_(list.has_value()) {}
  constexpr bool has_value() const { return present_; }
  constexpr explicit operator bool() const { return present_; }
  constexpr const ArrayRef<T>& operator*() const { return list_; }
  constexpr const ArrayRef<T>* operator->() const { return &list_; }
  constexpr const ArrayRef<T>& value() const { return list_; }

 private:
  ArrayRef<T> list_;
  bool present_ = false;
};

using IntArrayRef = ArrayRef<int64_t>;
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;
using SymInt = int64_t;
using SymIntArrayRef = IntArrayRef;

template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list);
#ifdef WARPWRIGHT_CAPTURE
template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  out << '[';
  for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
  return out << ']';
}
#endif

template <class T>
std::vector<T> makeVector(ArrayRef<T> list) { return list.vec(); }
template <class T>
ArrayRef<T> makeArrayRef(const std::vector<T>& list) { return list; }

// for (auto i : c10::irange(n))
template <class I>
class IntegerRange {
 public:
  struct iterator {
    I at;
    __host__ __device__ I operator*() const { return at; }
    __host__ __device__ iterator& operator++() { return ++at, *this; }
    __host__ __device__ bool operator!=(const iterator& other) const { return at < other.at; }
  };
  constexpr __host__ __device__ IntegerRange(I begin, I end) : begin_(begin), end_(end) {}
  __host__ __device__ iterator begin() const { return {begin_}; }
  __host__ __device__ iterator end() const { return {end_}; }

 private:
  I begin_, end_;
};
template <class I>
constexpr __host__ __device__ IntegerRange<I> irange(I end) { return {I(), end}; }
template <class I, class J>
constexpr __host__ __device__ IntegerRange<J> irange(I begin, J end) { return {static_cast<J>(begin), end}; }

}  // namespace c10

#define WARPWRIGHT_EXPORT_LISTS                                                                                  \
  using c10::ArrayRef; using c10::IntArrayRef; using c10::OptionalArrayRef; using c10::OptionalIntArrayRef;      \
  using c10::SymInt; using c10::SymIntArrayRef; using c10::makeArrayRef; using c10::make_optional;               \
  using c10::nullopt; using c10::optional;
namespace at {
WARPWRIGHT_EXPORT_LISTS
using c10::SmallVector;
using DimVector = c10::SmallVector<int64_t, 5>;
using c10::irange;
}  // namespace at
namespace torch {
WARPWRIGHT_EXPORT_LISTS
}
#undef WARPWRIGHT_EXPORT_LISTS

#endif
