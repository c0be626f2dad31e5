// Operations that the host code leaves to torch, as plain loops over strided views.
#ifndef WARPWRIGHT_EMULATE_LIBRARY_H
#define WARPWRIGHT_EMULATE_LIBRARY_H

#include <functional>
#include <optional>
#include <string>

#include "../../../seal/recorder/json.h"
#include "shadow.h"

namespace warpwright::emulated {

struct View {
  View(const Json& view, Region& region);
  Region* region;
  uintptr_t base;
  std::vector<int64_t> shape, stride;  // stride in bytes
  std::string dtype;
  size_t element_bytes;

  int64_t count() const;
  void each(const std::function<void(uintptr_t)>& visit) const;
  std::vector<uintptr_t> addresses() const;
  double load(uintptr_t address) const;
  void store(uintptr_t address, double value) const;
  void written(uintptr_t address) const;
};

void fill(const View& target, const Json& value);
// False for what is not among them.
bool carry_out_library(const Json& node, const std::function<View(const Json&)>& view);
// The same in lifted numbers, for copies and products. Only lifted programs have the functions for their elements.
bool carry_out_lifted(const Json& node, const std::function<View(const Json&)>& view);
__attribute__((weak)) uint32_t lifted_load(uintptr_t address, const std::string& dtype);
__attribute__((weak)) void lifted_store(uintptr_t address, const std::string& dtype, uint32_t name);
__attribute__((weak)) uint32_t lifted_multiply_add(uint32_t a, uint32_t b, uint32_t c);
__attribute__((weak)) uint32_t lifted_constant(double value);
__attribute__((weak)) void lifted_copy(uintptr_t from, const std::string& dtype, uintptr_t to, const std::string& into);

}  // namespace warpwright::emulated

#endif
