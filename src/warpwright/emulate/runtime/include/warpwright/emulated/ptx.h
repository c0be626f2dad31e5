// Inline PTX: the text and its operands, for the machine to interpret.
#ifndef WARPWRIGHT_EMULATED_PTX_H
#define WARPWRIGHT_EMULATED_PTX_H

#include "warpwright/emulated/machine.h"

namespace warpwright {

namespace emulated {

struct PtxOperand {
  void* target;  // where a result goes; null for inputs
  const char* name;
  size_t bytes;
  unsigned char value[8];
};
void run_ptx(const char* text, PtxOperand* operands, int count, int line);

}  // namespace emulated

class Ptx {
 public:
  explicit Ptx(const char* text, int line = __builtin_LINE()) : text_(text), line_(line) {}
  template <class T>
  Ptx& out(const char*, T& variable, const char* name = "") {
    return add(&variable, &variable, sizeof(T), name);
  }
  template <class T>
  Ptx& in(const char*, const T& value, const char* name = "") {
    return add(nullptr, &value, sizeof(T), name);
  }
  void run() { emulated::run_ptx(text_, operands_, count_, line_); }

 private:
  Ptx& add(void* target, const void* value, size_t bytes, const char* name) {
    if (bytes > 8 || count_ == MOST) unsupported("ptx operands of more than 8 bytes, or more than 40 of them");
    emulated::PtxOperand& operand = operands_[count_++];
    operand.target = target;
    operand.name = name;
    operand.bytes = bytes;
    emulated::copy(operand.value, value, bytes);
    return *this;
  }
  static constexpr int MOST = 40;
  const char* text_;
  int line_, count_ = 0;
  emulated::PtxOperand operands_[MOST] = {};
};

}  // namespace warpwright

#endif
