// Accessors: a pointer with sizes and strides that kernels index like an array.
#ifndef WARPWRIGHT_ACCESSOR_H
#define WARPWRIGHT_ACCESSOR_H

#include "warpwright/standard.h"

namespace at {

template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

// The form used inside host and device code: a non-owning reference to sizes and strides.
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = int64_t>
class TensorAccessor {
 public:
  using PtrType = typename Traits<T>::PtrType;
  __host__ __device__ TensorAccessor(PtrType data, const I* sizes, const I* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  __host__ __device__ I size(I i) const { return sizes_[i]; }
  __host__ __device__ I stride(I i) const { return strides_[i]; }
  __host__ __device__ PtrType data() const { return data_; }
  __host__ __device__ decltype(auto) operator[](I i) const {
    if constexpr (N == 1) return static_cast<T&>(data_[strides_[0] * i]);
    else return TensorAccessor<T, N - 1, Traits, I>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
  }

 private:
  PtrType data_;
  const I* sizes_;
  const I* strides_;
};

// The form passed to kernels by value: it contains sizes and strides. Members have torch's order and layout.
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename Traits<T>::PtrType;
  template <class J>
  __host__ __device__ GenericPackedTensorAccessor(PtrType data, const J* sizes, const J* strides) : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<I>(sizes[i]);
      strides_[i] = static_cast<I>(strides[i]);
    }
  }
  __host__ __device__ I size(I i) const { return sizes_[i]; }
  __host__ __device__ I stride(I i) const { return strides_[i]; }
  __host__ __device__ PtrType data() const { return data_; }
  __host__ __device__ decltype(auto) operator[](I i) const {
    if constexpr (N == 1) return static_cast<T&>(data_[strides_[0] * i]);
    else return TensorAccessor<T, N - 1, Traits, I>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
  }

 private:
  PtrType data_;
  I sizes_[N];
  I strides_[N];
};

template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, I>;

}  // namespace at

namespace torch {
using at::DefaultPtrTraits;
using at::GenericPackedTensorAccessor;
using at::PackedTensorAccessor;
using at::PackedTensorAccessor32;
using at::PackedTensorAccessor64;
using at::RestrictPtrTraits;
using at::TensorAccessor;
}  // namespace torch

#endif
