// PTX of whole warps: shuffles, votes, reductions, and matrices whose layout over the lanes is laid down by the manual.
#include <array>
#include <cstring>

#include "machine.h"
#include "ptx.h"
#include "warpwright/emulated/collectives.h"
#include "warpwright/half_bits.h"

namespace warpwright::emulated {

// Only lifted programs have these functions.
__attribute__((weak)) uint32_t lifted_element(const std::string& type, uint32_t word, unsigned index);
__attribute__((weak)) uint32_t lifted_multiply_add(uint32_t a, uint32_t b, uint32_t c);
__attribute__((weak)) uint16_t lifted_half(uint32_t name);

namespace {

bool shuffle_words(PtxRun& run, const Instruction& in) {
  if (in.opcode.size() < 3 || in.opcode[1] != "sync") return false;
  const std::string& how = in.opcode[2];
  const Kind kind = how == "up"     ? Kind::SHUFFLE_UP
                    : how == "down" ? Kind::SHUFFLE_DOWN
                    : how == "bfly" ? Kind::SHUFFLE_XOR
                                    : Kind::SHUFFLE;
  const int operand = static_cast<int>(run.get(in.operands[2])),
            width = 32 - static_cast<int>(run.get(in.operands[3]) >> 8 & 31);
  const unsigned mask = static_cast<unsigned>(run.get(in.operands[4])),
                 value = static_cast<unsigned>(run.get(in.operands[1]));
  const std::string target = in.operands[0].substr(0, in.operands[0].find('|'));
  run.set(target, shuffle(kind, mask, value, shuffle_source(kind, operand, width), run.line()));
  return true;
}

bool vote(PtxRun& run, const Instruction& in) {
  const int predicate = static_cast<int>(run.get(in.operands[1]) & 1);
  const unsigned mask = static_cast<unsigned>(run.get(in.operands[2]));
  if (in.has("ballot"))
    run.set(in.operands[0], __ballot_sync(mask, predicate, run.line()));
  else if (in.has("any"))
    run.set(in.operands[0], static_cast<uint64_t>(__any_sync(mask, predicate, run.line())));
  else if (in.has("all"))
    run.set(in.operands[0], static_cast<uint64_t>(__all_sync(mask, predicate, run.line())));
  else
    return false;
  return true;
}

bool reduce_words(PtxRun& run, const Instruction& in) {
  const unsigned mask = static_cast<unsigned>(run.get(in.operands[2]));
  const int value = static_cast<int>(run.get(in.operands[1]));
  const bool whole_numbers = in.type() == "s32";
  int result;
  if (in.has("add"))
    result = __reduce_add_sync(mask, value, run.line());
  else if (in.has("and"))
    result = __reduce_and_sync(mask, value, run.line());
  else if (in.has("or"))
    result = __reduce_or_sync(mask, value, run.line());
  else if (in.has("xor"))
    result = __reduce_xor_sync(mask, value, run.line());
  else if (in.has("min"))
    result = whole_numbers ? __reduce_min_sync(mask, value, run.line())
                           : static_cast<int>(__reduce_min_sync(mask, static_cast<unsigned>(value), run.line()));
  else if (in.has("max"))
    result = whole_numbers ? __reduce_max_sync(mask, value, run.line())
                           : static_cast<int>(__reduce_max_sync(mask, static_cast<unsigned>(value), run.line()));
  else
    return false;
  run.set(in.operands[0], static_cast<unsigned>(result));
  return true;
}

// Rows of 8 x 8 matrices of sixteen-bit elements, given by address, one by each lane.
struct Rows {
  uintptr_t row;
  unsigned count;
  bool transposed;
  std::array<uint32_t, 4> words;
};

void distribute(Payloads& lanes, unsigned present, unsigned) {
  if (present != 0xffffffffu) return;
  auto element = [&](unsigned matrix, unsigned row, unsigned column) {
    uint16_t bits;
    std::memcpy(&bits, reinterpret_cast<void*>(static_cast<Rows*>(lanes[8 * matrix + row])->row + 2 * column), 2);
    return static_cast<uint32_t>(bits);
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    Rows& mine = *static_cast<Rows*>(lanes[lane]);
    const unsigned outer = lane / 4, inner = lane % 4 * 2;
    for (unsigned m = 0; m < mine.count; ++m)
      mine.words[m] = mine.transposed ? element(m, inner, outer) | element(m, inner + 1, outer) << 16
                                      : element(m, outer, inner) | element(m, outer, inner + 1) << 16;
  }
}

bool load_matrix(PtxRun& run, const Instruction& in) {
  if (!in.has("m8n8") || in.type() != "b16") return false;
  Rows payload{run.address(in.operands[1], true), in.has("x4") ? 4u : in.has("x2") ? 2u : 1u, in.has("trans"), {}};
  if (lane() < 8 * payload.count) check(payload.row, 16, Access::READ, run.site());
  collective(Kind::MATRIX, 0xffffffffu, distribute, &payload, run.line());
  const std::vector<std::string> targets = PtxRun::elements(in.operands[0]);
  for (size_t i = 0; i < targets.size(); ++i) run.set(targets[i], payload.words[i]);
  return true;
}

// One lane's part of D = A * B + C.
struct Part {
  std::array<uint32_t, 4> a, b, c;
  std::array<uint32_t, 4> d;
  unsigned k;
  std::string input, output;
};

size_t bits_of_element(const std::string& type) {
  return type == "f16" || type == "bf16"                                    ? 16
         : type == "tf32"                                                   ? 32
         : type == "s8" || type == "u8" || type == "e4m3" || type == "e5m2" ? 8
                                                                            : 0;
}

// Arithmetic of products: how elements are read, joined and written.
struct Doubles {
  using Value = double;
  static double element(const std::string& type, uint32_t word, unsigned index);
  static double joined(double a, double b, double c) { return a * b + c; }
  static double single(uint32_t word) { return bits_as<float>(word); }
  static uint32_t word(double value) { return bits_as<uint32_t>(static_cast<float>(value)); }
  static uint32_t half(double value) { return HalfBits::narrow(static_cast<float>(value)); }
};
struct Lifted {
  using Value = uint32_t;
  static uint32_t element(const std::string& type, uint32_t word, unsigned index) {
    return lifted_element(type, word, index);
  }
  static uint32_t joined(uint32_t a, uint32_t b, uint32_t c) { return lifted_multiply_add(a, b, c); }
  static uint32_t single(uint32_t word) { return word; }
  static uint32_t word(uint32_t value) { return value; }
  static uint32_t half(uint32_t value) { return lifted_half(value); }
};

double Doubles::element(const std::string& type, uint32_t word, unsigned index) {
  if (type == "f16") return HalfBits::widen(word >> 16 * index & 0xffff);
  if (type == "bf16") return BFloat16Bits::widen(word >> 16 * index & 0xffff);
  if (type == "tf32") return bits_as<float>(word & ~0x1fffu);
  if (type == "s8") return static_cast<int8_t>(word >> 8 * index);
  if (type == "e4m3") return E4M3Bits::widen(word >> 8 * index & 255);
  if (type == "e5m2") return E5M2Bits::widen(word >> 8 * index & 255);
  return static_cast<uint8_t>(word >> 8 * index);
}

// Words of A go down the rows first, then along k; those of B only along k. A word holds neighbours along k.
template <class A>
void multiply_with(Payloads& lanes) {
  const Part& any = *static_cast<Part*>(lanes[0]);
  const unsigned per_word = 32 / static_cast<unsigned>(bits_of_element(any.input)), span = 4 * per_word, k = any.k;
  static typename A::Value left[16][64], right[64][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Part& part = *static_cast<Part*>(lanes[lane]);
    const unsigned group = lane / 4, inner = lane % 4;
    for (unsigned w = 0; w < 2 * k / span; ++w)
      for (unsigned e = 0; e < per_word; ++e)
        left[group + 8 * (w & 1)][inner * per_word + e + w / 2 * span] = A::element(any.input, part.a[w], e);
    for (unsigned w = 0; w < k / span; ++w)
      for (unsigned e = 0; e < per_word; ++e)
        right[inner * per_word + e + w * span][group] = A::element(any.input, part.b[w], e);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    Part& part = *static_cast<Part*>(lanes[lane]);
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      const bool is_single = part.output == "f32", is_whole = part.output == "s32";
      typename A::Value sum = is_whole    ? 0
                              : is_single ? A::single(part.c[i])
                                          : A::element("f16", part.c[i / 2], i % 2);
      for (unsigned j = 0; j < k; ++j) sum = A::joined(left[row][j], right[j][column], sum);
      if (is_single)
        part.d[i] = A::word(sum);
      else if (is_whole)
        part.d[i] = static_cast<uint32_t>(static_cast<int32_t>(part.c[i]) + static_cast<int32_t>(sum));
      else
        part.d[i / 2] = (i % 2 ? part.d[i / 2] : 0) | A::half(sum) << 16 * (i % 2);
    }
  }
  count_flops(2ull * 16 * 8 * k);
}

void multiply(Payloads& lanes, unsigned present, unsigned) {
  if (present != 0xffffffffu) return;
  const std::string& input = static_cast<Part*>(lanes[0])->input;
  const bool is_whole = input == "s8" || input == "u8";
  lifted_element && !is_whole ? multiply_with<Lifted>(lanes) : multiply_with<Doubles>(lanes);
}

// mma.sync.aligned.m16n8kK.row.col.D.A.B.C d, a, b, c
bool multiply_matrices(PtxRun& run, const Instruction& in) {
  if (!in.has("row") || !in.has("col") || in.has("sp")) return false;
  const size_t n = in.opcode.size();
  Part part{};
  for (const std::string& shape : in.opcode)
    if (shape.rfind("m16n8k", 0) == 0) part.k = static_cast<unsigned>(std::atoi(shape.c_str() + 6));
  part.output = in.opcode[n - 4], part.input = in.opcode[n - 3];
  const size_t width = bits_of_element(part.input);
  if (!part.k || !width || in.opcode[n - 2] != part.input || part.k > 64) return false;
  auto gather = [&](const std::string& operand, std::array<uint32_t, 4>& words) {
    const std::vector<std::string> elements = PtxRun::elements(operand);
    for (size_t i = 0; i < elements.size() && i < 4; ++i) words[i] = static_cast<uint32_t>(run.get(elements[i]));
  };
  gather(in.operands[1], part.a), gather(in.operands[2], part.b), gather(in.operands[3], part.c);
  collective(Kind::MATRIX, 0xffffffffu, multiply, &part, run.line());
  const std::vector<std::string> targets = PtxRun::elements(in.operands[0]);
  for (size_t i = 0; i < targets.size() && i < 4; ++i) run.set(targets[i], part.d[i]);
  return true;
}

}  // namespace

bool run_warp_operation(PtxRun& run, const Instruction& in) {
  const std::string& name = in.opcode[0];
  if (name == "shfl") return shuffle_words(run, in);
  if (name == "vote") return vote(run, in);
  if (name == "redux") return reduce_words(run, in);
  if (name == "activemask") return run.set(in.operands[0], __activemask(run.line())), true;
  return false;
}

bool run_matrix(PtxRun& run, const Instruction& in) {
  if (in.opcode[0] == "ldmatrix") return load_matrix(run, in);
  if (in.opcode[0] == "mma") return multiply_matrices(run, in);
  return false;
}

}  // namespace warpwright::emulated
