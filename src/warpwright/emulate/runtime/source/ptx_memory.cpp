// PTX that touches memory: loads, stores, atomic operations, asynchronous copies, fences and barriers.
#include <cstring>

#include "machine.h"
#include "ptx.h"
#include "warpwright/half_bits.h"

namespace warpwright::emulated {
namespace {

Fence reach(const Instruction& in) { return in.has("cta") ? Fence::BLOCK : Fence::DEVICE; }

size_t lanes_of(const Instruction& in) { return in.has("v4") ? 4 : in.has("v2") ? 2 : in.has("v8") ? 8 : 1; }
bool synchronises(const Instruction& in) {
  return in.has("volatile") || in.has("relaxed") || in.has("acquire") || in.has("release") || in.has("mmio");
}

bool load(PtxRun& run, const Instruction& in) {
  const size_t bytes = bytes_of_type(in.type()), count = lanes_of(in);
  const uintptr_t from = run.address(in.operands[1], in.has("shared"));
  check(from, bytes * count, synchronises(in) ? Access::VOLATILE_READ : Access::READ, run.site());
  const std::vector<std::string> targets = PtxRun::elements(in.operands[0]);
  for (size_t i = 0; i < targets.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<void*>(from + i * bytes), bytes);
    if (in.type()[0] == 's' && bytes < 8)
      bits = static_cast<uint64_t>(static_cast<int64_t>(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    run.set(targets[i], bits);
  }
  return true;
}

bool store(PtxRun& run, const Instruction& in) {
  const size_t bytes = bytes_of_type(in.type()), count = lanes_of(in);
  const uintptr_t to = run.address(in.operands[0], in.has("shared"));
  if (in.has("release")) fence(reach(in));
  check(to, bytes * count, synchronises(in) ? Access::VOLATILE_WRITE : Access::WRITE, run.site());
  const std::vector<std::string> values = PtxRun::elements(in.operands[1]);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t bits = run.get(values[i]);
    copy(reinterpret_cast<void*>(to + i * bytes), &bits, bytes);
  }
  return true;
}

template <class T>
T combined(const std::string& how, T old, T value) {
  if (how == "add") return old + value;
  if (how == "min") return value < old ? value : old;
  if (how == "max") return old < value ? value : old;
  if (how == "exch") return value;
  if constexpr (std::is_integral<T>::value) {
    if (how == "and") return old & value;
    if (how == "or") return old | value;
    if (how == "xor") return old ^ value;
    if (how == "inc") return old >= value ? 0 : old + 1;
    if (how == "dec") return old == 0 || old > value ? value : old - 1;
  }
  unsupported(("ptx atom." + how).c_str());
}

template <class T>
uint64_t combined_bits(const std::string& how, uint64_t old, uint64_t value) {
  T a, b;
  std::memcpy(&a, &old, sizeof(T)), std::memcpy(&b, &value, sizeof(T));
  const T result = combined(how, a, b);
  uint64_t bits = 0;
  std::memcpy(&bits, &result, sizeof(T));
  return bits;
}

uint64_t combined_as(const std::string& type, const std::string& how, uint64_t old, uint64_t value) {
  if (type == "f32") return combined_bits<float>(how, old, value);
  if (type == "f64") return combined_bits<double>(how, old, value);
  if (type == "s32") return combined_bits<int32_t>(how, old, value);
  if (type == "u32" || type == "b32") return combined_bits<uint32_t>(how, old, value);
  if (type == "s64") return combined_bits<int64_t>(how, old, value);
  if (type == "u64" || type == "b64") return combined_bits<uint64_t>(how, old, value);
  unsupported(("ptx atomic operation on " + type).c_str());
}

// atom returns what was there; red does not. cas has one operand more.
bool atomic(PtxRun& run, const Instruction& in) {
  const bool returns = in.opcode[0] == "atom";
  const size_t first = returns ? 1 : 0, bytes = bytes_of_type(in.type());
  if (bytes < 4 || lanes_of(in) != 1) return false;
  const uintptr_t at = run.address(in.operands[first], in.has("shared"));
  if (in.has("release") || in.has("acq_rel")) fence(reach(in));
  check(at, bytes, Access::ATOMIC, run.site(), {in.has("cta"), true});
  uint64_t old = 0;
  std::memcpy(&old, reinterpret_cast<void*>(at), bytes);
  const uint64_t value = run.get(in.operands[first + 1]);
  uint64_t next;
  if (in.has("cas")) {
    const uint64_t mask = bytes == 8 ? ~uint64_t(0) : 0xffffffffu;
    next = old == (value & mask) ? run.get(in.operands[first + 2]) : old;
  } else {
    next = combined_as(in.type(), in.opcode[in.opcode.size() - 2], old, value);
  }
  copy(reinterpret_cast<void*>(at), &next, bytes);
  if (returns) run.set(in.operands[0], old);
  return true;
}

bool asynchronous(PtxRun& run, const Instruction& in) {
  if (in.opcode.size() < 2 || in.opcode[1] != "async" || in.has("bulk") || in.has("mbarrier")) return false;
  if (in.has("commit_group")) return async_commit(), true;
  if (in.has("wait_all")) return async_commit(), async_wait(0), true;
  if (in.has("wait_group")) return async_wait(static_cast<unsigned>(run.get(in.operands[0]))), true;
  const size_t bytes = run.get(in.operands[2]);
  const size_t valid = in.operands.size() > 3 ? std::min<size_t>(run.get(in.operands[3]) & 0xffffffffu, bytes) : bytes;
  async_copy(reinterpret_cast<void*>(run.address(in.operands[0], true)),
             reinterpret_cast<void*>(run.address(in.operands[1], false)), bytes, valid);
  return true;
}

bool wait_at_barrier(PtxRun& run, const Instruction& in) {
  if (in.has("red") || in.has("cluster")) return false;
  if (in.has("warp"))
    return collective(Kind::SYNC, static_cast<unsigned>(run.get(in.operands[0])), nullptr, &run, run.line()), true;
  const unsigned name = static_cast<unsigned>(run.get(in.operands[0]));
  const unsigned members = in.operands.size() > 1 ? static_cast<unsigned>(run.get(in.operands[1])) : 0;
  if (in.has("arrive")) return barrier_arrive(name, members), true;
  barrier(run.line(), Vote::NONE, 0, name, members);
  return true;
}

}  // namespace

bool run_memory(PtxRun& run, const Instruction& in) {
  const std::string& name = in.opcode[0];
  if (name == "ld" || name == "ldu") return load(run, in);
  if (name == "st") return store(run, in);
  if (name == "atom" || name == "red") return atomic(run, in);
  if (name == "cp") return asynchronous(run, in);
  if (name == "bar" || name == "barrier") return wait_at_barrier(run, in);
  if (name == "membar" || name == "fence") return fence(reach(in)), true;
  if (name == "prefetch" || name == "prefetchu" || name == "griddepcontrol" || name == "pragma") return true;
  if (name == "nanosleep") return poll(), true;
  if (name == "trap") trap("trap", "trap");
  return false;
}

}  // namespace warpwright::emulated
