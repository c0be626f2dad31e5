// The implementation of a Tensor: a view of memory that is either fake (on the device) or real (on the host).
#ifndef WARPWRIGHT_RECORDER_IMPL_H
#define WARPWRIGHT_RECORDER_IMPL_H

#include "recorder.h"

namespace warpwright {

struct Storage {
  Storage(int buffer, bool owned) : buffer(buffer), epoch(Recorder::current().epoch()), owned(owned) {
    base = Recorder::current().buffer(buffer).base;
    bytes = Recorder::current().buffer(buffer).bytes;
  }
  explicit Storage(size_t size) : base(0), bytes(size), memory(size) {
    base = reinterpret_cast<uint64_t>(memory.data());
  }
  Storage(void* host, size_t size) : base(reinterpret_cast<uint64_t>(host)), bytes(size) {}
  Storage(const Storage&) = delete;
  ~Storage() {
    if (owned && epoch == Recorder::current().epoch()) Recorder::current().release(buffer);
  }
  bool on_device() const { return buffer >= 0; }
  int buffer_id() const {
    return epoch == Recorder::current().epoch() ? buffer : Recorder::current().retain(base, bytes);
  }

  uint64_t base, bytes;
  int buffer = -1;
  uint64_t epoch = 0;
  bool owned = false;
  std::vector<char> memory;
};

using Shape = std::vector<int64_t>;

}  // namespace warpwright

namespace at {

struct TensorImpl {
  int64_t references = 0;
  std::shared_ptr<warpwright::Storage> storage;
  warpwright::Shape shape, stride;
  int64_t offset = 0;  // in elements
  c10::ScalarType dtype = c10::kFloat;
  bool requires_grad = false;
};

}  // namespace at

namespace warpwright {

Shape contiguous_stride(c10::IntArrayRef shape);
int64_t product(c10::IntArrayRef shape);
int64_t wrap(int64_t dim, int64_t dims);

at::Tensor window(std::shared_ptr<Storage> storage, Shape shape, Shape stride, int64_t offset, c10::ScalarType dtype);
at::Tensor view_of(const at::Tensor& tensor, Shape shape, Shape stride, int64_t offset);
at::Tensor fresh(Shape shape, c10::ScalarType dtype, bool device = true);
at::Tensor fresh_strided(Shape shape, Shape stride, c10::ScalarType dtype, bool device = true);
// A new tensor with the memory layout that torch gives to results like `like`.
at::Tensor fresh_like(const at::Tensor& like, c10::ScalarType dtype);
Shape dense_stride_like(const at::Tensor& like);

Json json_of(const at::Tensor& tensor);
Json json_of(const c10::Scalar& value);
Json json_of(const std::optional<c10::Scalar>& value);
Json json_of(const std::optional<c10::ScalarType>& type);
Json json_of(c10::IntArrayRef list);
const char* python_name(c10::ScalarType type);
c10::ScalarType type_named(const std::string& python_name);

using Tensors = std::vector<at::Tensor>;
// One node: an operation of torch. Undefined inputs stand for None.
void library(const std::string& operation, const Tensors& inputs, const Tensors& outputs, Object options = {});
// The same where the result is new, and of the type of the first input.
at::Tensor produce(const char* operation, Shape shape, const Tensors& inputs, Object options = {});
void copy_into(const at::Tensor& target, const at::Tensor& source);

}  // namespace warpwright

#endif
