// What host code that is written from a record uses: operations by name, calls of bound functions, memory as it lies.
#ifndef WARPWRIGHT_RECORDED_H
#define WARPWRIGHT_RECORDED_H

#include "warpwright/pybind.h"

namespace warpwright {

using Named = std::vector<std::pair<const char*, Value>>;

// One operation of torch, with options in JSON, that writes its results to these tensors.
void operation(const char* name, const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs,
               const char* options);
// Calls a bound function as Python does. The tensors of its result, in order.
std::vector<at::Tensor> called(const char* entry, const std::vector<Value>& arguments, const Named& keywords);
Value listed(const std::vector<Value>& items);
// All bytes of the memory that a tensor lies in.
at::Tensor memory(const at::Tensor& tensor);
// Whether tensors have these types, sizes and strides, such as "fp32[4,8|8,1] int64[|]".
bool are(const std::vector<at::Tensor>& tensors, const char* forms);

struct ExtensionBinding {
  ExtensionBinding(const char* prefix, void (*bind)(pybind11::module_&));
};

}  // namespace warpwright

// A module whose functions are bound under names with a prefix.
#define WARPWRIGHT_EXTENSION(NAME, PREFIX, VARIABLE) WARPWRIGHT_EXTENSION_OF(NAME, PREFIX, VARIABLE)
#define WARPWRIGHT_EXTENSION_OF(NAME, PREFIX, VARIABLE)                                                         \
  static void warpwright_bind_##NAME(pybind11::module_&);                                                       \
  static ::warpwright::ExtensionBinding warpwright_extension_##NAME(PREFIX, &warpwright_bind_##NAME);           \
  static void warpwright_bind_##NAME([[maybe_unused]] pybind11::module_& VARIABLE)

#endif
