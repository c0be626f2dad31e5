// PTX text taken apart, and the state in which one piece of it runs.
#ifndef WARPWRIGHT_EMULATE_PTX_H
#define WARPWRIGHT_EMULATE_PTX_H

#include <map>
#include <string>
#include <vector>

#include "warpwright/emulated/ptx.h"

namespace warpwright::emulated {

struct Instruction {
  std::string guard;  // predicate that must hold, or ""
  bool negated = false;
  std::vector<std::string> opcode;  // by its dots
  std::vector<std::string> operands;

  bool has(const char* part) const;
  // The last part that names a type.
  const std::string& type() const { return opcode.back(); }
  std::string text() const;
};

std::vector<Instruction> parse_ptx(const std::string& text);
std::vector<std::string> split_list(const std::string& text, char separator);

class PtxRun {
 public:
  PtxRun(PtxOperand* operands, int count, int line, uint32_t site)
      : operands_(operands), count_(count), line_(line), site_(site) {}
  void run(const Instruction& instruction);

  uint64_t get(const std::string& operand);
  void set(const std::string& operand, uint64_t bits);
  // The elements of {a, b, c}, or the operand alone.
  static std::vector<std::string> elements(const std::string& operand);
  uintptr_t address(const std::string& operand, bool shared);
  int line() const { return line_; }
  uint32_t site() const { return site_; }

 private:
  PtxOperand* find(const std::string& operand);

  PtxOperand* operands_;
  int count_, line_;
  uint32_t site_;
  std::map<std::string, uint64_t> registers_;
};

// Families of instructions; each says whether the instruction is one of its own.
bool run_arithmetic(PtxRun& run, const Instruction& instruction);
bool run_memory(PtxRun& run, const Instruction& instruction);
bool run_warp_operation(PtxRun& run, const Instruction& instruction);
bool run_matrix(PtxRun& run, const Instruction& instruction);

// Bytes of a type such as f16x2; 0 when it is none.
size_t bytes_of_type(const std::string& type);

}  // namespace warpwright::emulated

#endif
