// Indexing: x.index({Slice(0, 4), "...", None, 2}).
#ifndef WARPWRIGHT_INDEX_H
#define WARPWRIGHT_INDEX_H

#include "warpwright/device.h"

namespace at {

class Tensor;

namespace indexing {

inline constexpr std::nullopt_t None = std::nullopt;
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};

struct Slice {
  Slice(warpwright::Maybe<int64_t> start = std::nullopt, warpwright::Maybe<int64_t> stop = std::nullopt,
        warpwright::Maybe<int64_t> step = std::nullopt)
      : start_(start), stop_(stop), step_(step.value_or(1)) {}
  warpwright::Maybe<int64_t> start_, stop_;
  int64_t step_;
};

class TensorIndex {
 public:
  enum class Kind { NONE, ELLIPSIS, INTEGER, SLICE, TENSOR };
  TensorIndex(std::nullopt_t) : kind_(Kind::NONE) {}
  TensorIndex(EllipsisIndexType) : kind_(Kind::ELLIPSIS) {}
  TensorIndex(const char*) : kind_(Kind::ELLIPSIS) {}
  TensorIndex(int64_t at) : kind_(Kind::INTEGER), integer_(at) {}
  TensorIndex(int at) : kind_(Kind::INTEGER), integer_(at) {}
  TensorIndex(Slice slice) : kind_(Kind::SLICE), slice_(slice) {}
  TensorIndex(const Tensor& tensor) : kind_(Kind::TENSOR), tensor_(&tensor) {}

  Kind kind() const { return kind_; }
  int64_t integer() const { return integer_; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return *tensor_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  Slice slice_;
  const Tensor* tensor_ = nullptr;
};

}  // namespace indexing
}  // namespace at

namespace torch {
namespace indexing = at::indexing;
}

#endif
