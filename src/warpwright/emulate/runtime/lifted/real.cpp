// Real's bits and the records that they name, in the process of a lifted program.
#include "warpwright/emulated/lifted.h"

#include <sys/mman.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "number.h"

namespace warpwright {
[[noreturn]] void unsupported(const char* name);

namespace lifted {
namespace {

constexpr uint32_t SIGN = 0x80000000u, FIRST_FLOAT = 0x20000000u;  // 2^-63
constexpr uint32_t MOST = 1u << 25;

uint32_t used = 1;
bool has_left = false;

Number* records() {
  static Number* const memory = [] {
    void* place = mmap(nullptr, MOST * sizeof(Number), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) throw std::runtime_error("no memory for lifted numbers");
    return static_cast<Number*>(place);
  }();
  return memory;
}

bool names_record(uint32_t magnitude) { return magnitude && magnitude < FIRST_FLOAT; }

float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }

Number number(uint32_t bits) {
  const uint32_t magnitude = bits & ~SIGN;
  if (!names_record(magnitude)) return read(as_float(bits));
  if (magnitude >= used) unsupported("bits that are no number of the lifted program");
  const Number& found = records()[magnitude];
  return bits & SIGN ? negated(found) : found;
}

// Whether a float means the same, so that no record is needed.
bool is_plain(const Number& x) {
  if (!(std::fabs(x.value) <= 16777216.0) || x.value != std::floor(x.value)) return false;
  const Number plain = whole(static_cast<int64_t>(x.value));
  return !x.is_opaque && std::memcmp(plain.residue, x.residue, sizeof plain.residue) == 0;
}

uint32_t bits_of(const Number& x) {
  if (!std::isfinite(x.value) || is_plain(x)) return __builtin_bit_cast(uint32_t, static_cast<float>(x.value));
  if (used == MOST) unsupported("more than 33 million lifted results");
  const bool is_negative = std::signbit(x.value);
  records()[used] = is_negative ? negated(x) : x;
  return used++ | (is_negative ? SIGN : 0);
}

}  // namespace

uint32_t literal(double value) {
  const auto narrow = static_cast<float>(value);
  return names_record(__builtin_bit_cast(uint32_t, narrow) & ~SIGN) ? bits_of(read(narrow))
                                                                    : __builtin_bit_cast(uint32_t, narrow);
}

uint32_t whole_number(int64_t value) { return bits_of(whole(value)); }

double value_of(uint32_t bits) {
  const uint32_t magnitude = bits & ~SIGN;
  if (!names_record(magnitude)) return as_float(bits);
  return number(bits).value;
}

float left(uint32_t bits) {
  has_left = has_left || names_record(bits & ~SIGN);
  return static_cast<float>(value_of(bits));
}

uint32_t unary(int operation, uint32_t x) { return bits_of(apply(static_cast<Unary>(operation), number(x))); }

uint32_t binary(int operation, uint32_t a, uint32_t b) {
  return bits_of(apply(static_cast<Binary>(operation), number(a), number(b)));
}

}  // namespace lifted

namespace emulated {

// A Number for each four bytes of a buffer.
void write_numbers(std::ostream& out, const void* memory, size_t bytes) {
  for (size_t at = 0; at + 4 <= bytes; at += 4) {
    uint32_t bits;
    std::memcpy(&bits, static_cast<const char*>(memory) + at, 4);
    const uint32_t magnitude = bits & ~lifted::SIGN;
    const bool is_foreign = lifted::names_record(magnitude) && magnitude >= lifted::used;
    lifted::Number number = is_foreign ? lifted::lost(NAN) : lifted::number(bits);
    number.is_opaque |= lifted::has_left ? 2 : 0;
    out.write(reinterpret_cast<const char*>(&number), sizeof number);
  }
}

void load_numbers(const std::string& file, int64_t at, void* memory, size_t bytes) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(at);
  lifted::Number number;
  for (size_t done = 0; done + 4 <= bytes; done += 4) {
    if (!in.read(reinterpret_cast<char*>(&number), sizeof number)) throw std::runtime_error("too few numbers");
    const uint32_t bits = lifted::bits_of(number);
    std::memcpy(static_cast<char*>(memory) + done, &bits, 4);
  }
}

bool lifted_ptx(const std::string& name, const uint32_t* x, uint32_t& result) {
  using lifted::of_bits;
  const lifted::Real a = of_bits(x[0]), b = of_bits(x[1]), c = of_bits(x[2]);
  const lifted::Real ln2 = 0.69314718055994531;
  const auto of = [&](lifted::Unary operation) { return of_bits(lifted::unary(static_cast<int>(operation), x[0])); };
  const auto root = [&] { return of(lifted::Unary::SQRT); };
  lifted::Real found;
  if (name == "add") found = a + b;
  else if (name == "sub") found = a - b;
  else if (name == "mul") found = a * b;
  else if (name == "div") found = a / b;
  else if (name == "fma" || name == "mad") found = a * b + c;
  else if (name == "min") found = b < a ? b : a;
  else if (name == "max") found = a < b ? b : a;
  else if (name == "abs") found = of(lifted::Unary::ABS);
  else if (name == "neg") found = -a;
  else if (name == "rcp") found = 1 / a;
  else if (name == "sqrt") found = root();
  else if (name == "rsqrt") found = 1 / root();
  else if (name == "ex2") found = of_bits(lifted::unary(static_cast<int>(lifted::Unary::EXP), (a * ln2).bits));
  else if (name == "lg2") found = of(lifted::Unary::LOG) / ln2;
  else if (name == "sin") found = of(lifted::Unary::SIN);
  else if (name == "cos") found = of(lifted::Unary::COS);
  else if (name == "tanh") found = of(lifted::Unary::TANH);
  else return false;
  result = found.bits;
  return true;
}

}  // namespace emulated
}  // namespace warpwright
