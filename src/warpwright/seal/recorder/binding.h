// Entry points by name: finding one and calling it as Python would.
#ifndef WARPWRIGHT_RECORDER_BINDING_H
#define WARPWRIGHT_RECORDER_BINDING_H

#include "value.h"

namespace warpwright {

// Runs what PYBIND11_MODULE and TORCH_LIBRARY registered. The first failure is kept and thrown by every later request.
void bind_modules();

const Entry& find_entry(const std::string& name);
Value call_entry(const Entry& entry, const Values& positional,
                 const std::vector<std::pair<std::string, Value>>& keywords);

// "op(Tensor x, float eps=1e-5, int[] dims=[0]) -> Tensor": names and defaults; types come from the C++ function.
std::string schema_name(const std::string& schema);
std::vector<Parameter> schema_parameters(const std::string& schema);

}  // namespace warpwright

#endif
