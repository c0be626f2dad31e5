#include "ptx.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "../../../seal/recorder/gpu.h"
#include "machine.h"

namespace warpwright::emulated {
namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::string plain_text(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0)
      i = std::min(text.find('\n', i), text.size() - 1);
    else if (text.compare(i, 2, "/*") == 0)
      i = std::min(text.find("*/", i), text.size() - 2) + 1;
    else if (text.compare(i, 2, "%%") != 0)
      plain += text[i];  // doubled in the text of an asm statement
  }
  return plain;
}

Instruction instruction_of(std::string text) {
  Instruction instruction;
  if (text[0] == '@') {
    const size_t end = text.find_first_of(" \t\n");
    instruction.negated = text[1] == '!';
    instruction.guard = text.substr(instruction.negated ? 2 : 1, end - (instruction.negated ? 2 : 1));
    text = trimmed(text.substr(end));
  }
  const size_t end = text.find_first_of(" \t\n");
  instruction.opcode = split_list(text.substr(0, end), '.');
  if (end != std::string::npos)
    for (const std::string& operand : split_list(text.substr(end), ','))
      instruction.operands.push_back(trimmed(operand));
  return instruction;
}

uint64_t special(const std::string& name) {
  const unsigned lane = thread_number & 31u;
  if (name == "%laneid") return lane;
  if (name == "%warpid") return thread_number >> 5;
  if (name == "%tid.x") return threadIdx.x;
  if (name == "%tid.y") return threadIdx.y;
  if (name == "%tid.z") return threadIdx.z;
  if (name == "%ctaid.x") return blockIdx.x;
  if (name == "%ctaid.y") return blockIdx.y;
  if (name == "%ctaid.z") return blockIdx.z;
  if (name == "%ntid.x") return blockDim.x;
  if (name == "%nctaid.x") return gridDim.x;
  if (name == "%smid") return Machine::current().block().number % special("%nsmid");
  if (name == "%nsmid") return static_cast<uint64_t>(described_gpu().multiProcessorCount);
  if (name == "%lanemask_eq") return 1u << lane;
  if (name == "%lanemask_lt") return (1u << lane) - 1u;
  if (name == "%lanemask_le") return (2u << lane) - 1u;
  if (name == "%lanemask_gt") return ~((2u << lane) - 1u);
  if (name == "%lanemask_ge") return ~((1u << lane) - 1u);
  if (name == "%clock" || name == "%clock64" || name == "%globaltimer") return static_cast<uint64_t>(ticks());
  if (name == "%dynamic_smem_size") return dynamic_bytes();
  throw Outcome("unsupported", "ptx " + name, name);
}

// Cache hints do not change results: removes the hint from the opcode, and its policy, the last operand.
Instruction without_hint(Instruction in) {
  if (std::erase(in.opcode, "L2::cache_hint") && !in.operands.empty()) in.operands.pop_back();
  return in;
}

}  // namespace

std::vector<std::string> split_list(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool Instruction::has(const char* part) const {
  for (const std::string& own : opcode)
    if (own == part || own.rfind(std::string(part) + "::", 0) == 0) return true;
  return false;
}

std::string Instruction::text() const {
  std::string joined;
  for (const std::string& part : opcode) joined += (joined.empty() ? "" : ".") + part;
  return joined;
}

// Braces around a whole piece only limit the scope of its registers; braces in an operand are part of it.
std::vector<Instruction> parse_ptx(const std::string& text) {
  std::vector<Instruction> list;
  std::string current;
  for (char c : plain_text(text)) {
    const bool scope = (c == '{' || c == '}') && trimmed(current).empty();
    if (scope) continue;
    if (c != ';') {
      current += c;
      continue;
    }
    const std::string one = trimmed(current);
    current.clear();
    if (!one.empty() && one[0] != '.') list.push_back(without_hint(instruction_of(one)));
  }
  return list;
}

PtxOperand* PtxRun::find(const std::string& operand) {
  if (operand.size() > 2 && operand[1] == '[') {
    const std::string name = operand.substr(2, operand.size() - 3);
    for (int i = 0; i < count_; ++i)
      if (name == operands_[i].name) return &operands_[i];
  }
  if (operand.size() < 2 || operand[0] != '%' || !std::isdigit(static_cast<unsigned char>(operand[1]))) return nullptr;
  const int number = std::atoi(operand.c_str() + 1);
  return number < count_ ? &operands_[number] : nullptr;
}

uint64_t PtxRun::get(const std::string& operand) {
  if (operand[0] == '!') return !get(operand.substr(1));
  if (PtxOperand* found = find(operand)) {
    uint64_t bits = 0;
    std::memcpy(&bits, found->value, found->bytes);
    return bits;
  }
  if (auto local = registers_.find(operand); local != registers_.end()) return local->second;
  if (operand[0] == '%') return special(operand);
  if (operand.rfind("0f", 0) == 0 || operand.rfind("0F", 0) == 0 || operand.rfind("0d", 0) == 0)
    return std::strtoull(operand.c_str() + 2, nullptr, 16);
  if (std::isdigit(static_cast<unsigned char>(operand[0])) || operand[0] == '-')
    return static_cast<uint64_t>(operand[0] == '-'
                                     ? std::strtoll(operand.c_str(), nullptr, 0)
                                     : static_cast<long long>(std::strtoull(operand.c_str(), nullptr, 0)));
  throw Outcome("unsupported", "ptx operand " + operand, operand);
}

void PtxRun::set(const std::string& operand, uint64_t bits) {
  if (operand == "_") return;
  PtxOperand* found = find(operand);
  if (!found) {
    registers_[operand] = bits;
    return;
  }
  std::memcpy(found->value, &bits, found->bytes);
  if (found->target) std::memcpy(found->target, &bits, found->bytes);
}

std::vector<std::string> PtxRun::elements(const std::string& operand) {
  if (operand[0] != '{') return {operand};
  std::vector<std::string> list;
  for (const std::string& element : split_list(operand.substr(1, operand.size() - 2), ','))
    list.push_back(trimmed(element));
  return list;
}

uintptr_t PtxRun::address(const std::string& operand, bool shared) {
  std::string inside = operand[0] == '[' ? operand.substr(1, operand.size() - 2) : operand;
  int64_t offset = 0;
  const size_t plus = inside.find('+');
  if (plus != std::string::npos) {
    offset = static_cast<int64_t>(get(trimmed(inside.substr(plus + 1))));
    inside = inside.substr(0, plus);
  }
  const uint64_t base = get(trimmed(inside));
  return (shared ? reinterpret_cast<uintptr_t>(shared_pointer(static_cast<unsigned>(base))) : base) +
         static_cast<uintptr_t>(offset);
}

void PtxRun::run(const Instruction& instruction) {
  if (!instruction.guard.empty() && static_cast<bool>(get(instruction.guard) & 1) == instruction.negated) return;
  if (run_arithmetic(*this, instruction) || run_memory(*this, instruction) || run_warp_operation(*this, instruction) ||
      run_matrix(*this, instruction))
    return;
  throw Outcome("unsupported", "ptx " + instruction.text(), instruction.text());
}

void run_ptx(const char* text, PtxOperand* operands, int count, int line) {
  static std::unordered_map<const char*, std::vector<Instruction>> parsed;
  auto [found, is_new] = parsed.try_emplace(text);
  if (is_new) found->second = parse_ptx(text);
  const std::vector<Instruction>& instructions = found->second;
  PtxRun run(operands, count, line, site_of(__builtin_return_address(0)));
  for (const Instruction& instruction : instructions) run.run(instruction);
}

}  // namespace warpwright::emulated
