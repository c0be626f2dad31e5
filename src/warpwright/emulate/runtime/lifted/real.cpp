// Real's bits and the records that they name, in the process of a lifted program.
#include "warpwright/emulated/lifted.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

#include "names.h"

namespace warpwright {
[[noreturn]] void unsupported(const char* name);

namespace lifted {
namespace {

bool has_left = false;

uint32_t narrow_to(const std::string& dtype, const Number& x) {
  if (dtype == "float16") return narrowed(Small::HALF, name_of(x));
  if (dtype == "bfloat16") return narrowed(Small::BFLOAT16, name_of(x));
  return name_of(x);
}

Number number_at(const std::string& dtype, uint32_t bits) {
  if (dtype == "float16") return number_of(widened(Small::HALF, static_cast<uint16_t>(bits)));
  if (dtype == "bfloat16") return number_of(widened(Small::BFLOAT16, static_cast<uint16_t>(bits)));
  return number_of(bits);
}

}  // namespace

uint32_t literal(double value) { return name_of_constant(value); }

uint32_t whole_number(int64_t value) { return name_of(whole(value)); }

double value_of(uint32_t bits) { return number_of(bits).value; }

float left(uint32_t bits) {
  const Number x = number_of(bits);
  const Number constant = read(static_cast<float>(x.value));
  has_left = has_left || std::memcmp(&x, &constant, sizeof x) != 0;
  return static_cast<float>(x.value);
}

uint32_t unary(int operation, uint32_t x) { return name_of(apply(static_cast<Unary>(operation), number_of(x))); }

uint32_t binary(int operation, uint32_t a, uint32_t b) {
  return name_of(apply(static_cast<Binary>(operation), number_of(a), number_of(b)));
}

uint16_t narrowed_half(uint32_t bits) { return narrowed(Small::HALF, bits); }
uint16_t narrowed_bfloat16(uint32_t bits) { return narrowed(Small::BFLOAT16, bits); }
uint32_t widened_half(uint16_t bits) { return widened(Small::HALF, bits); }
uint32_t widened_bfloat16(uint16_t bits) { return widened(Small::BFLOAT16, bits); }

}  // namespace lifted

namespace emulated {
namespace {

size_t element_bytes(const std::string& dtype) {
  return dtype == "float64" ? 8 : dtype == "float32" ? 4 : dtype == "float16" || dtype == "bfloat16" ? 2 : 0;
}

}  // namespace

// A Number for each element of a buffer; none for other types than floats of at least sixteen bits.
int64_t write_numbers(std::ostream& out, const void* memory, size_t bytes, const std::string& dtype) {
  const size_t step = element_bytes(dtype);
  for (size_t at = 0; step && at + step <= bytes; at += step) {
    uint32_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(memory) + at, step < 4 ? step : 4);
    lifted::Number number = lifted::number_at(dtype, bits);
    number.flags |= lifted::has_left ? lifted::LEFT : 0;
    out.write(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return step ? static_cast<int64_t>(bytes / step) : 0;
}

void load_numbers(const std::string& file, int64_t at, void* memory, size_t bytes, const std::string& dtype) {
  const size_t step = element_bytes(dtype);
  if (!step) unsupported(("lifted numbers in " + dtype).c_str());
  std::ifstream in(file, std::ios::binary);
  in.seekg(at);
  lifted::Number number;
  for (size_t done = 0; done + step <= bytes; done += step) {
    if (!in.read(reinterpret_cast<char*>(&number), sizeof number)) throw std::runtime_error("too few numbers");
    const uint64_t bits = lifted::narrow_to(dtype, number);
    std::memcpy(static_cast<char*>(memory) + done, &bits, step);
  }
}

uint32_t lifted_load(uintptr_t address, const std::string& dtype) {
  const size_t bytes = element_bytes(dtype);
  if (!bytes) unsupported(("lifted numbers in " + dtype).c_str());
  uint32_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<void*>(address), bytes < 4 ? bytes : 4);
  return lifted::name_of(lifted::number_at(dtype, bits));
}

void lifted_store(uintptr_t address, const std::string& dtype, uint32_t name) {
  const size_t bytes = element_bytes(dtype);
  if (!bytes) unsupported(("lifted numbers in " + dtype).c_str());
  const uint64_t bits = lifted::narrow_to(dtype, lifted::number_of(name));
  std::memcpy(reinterpret_cast<void*>(address), &bits, bytes);
}

void lifted_copy(uintptr_t from, const std::string& dtype, uintptr_t to, const std::string& into) {
  const size_t bytes = element_bytes(dtype);
  if (dtype == into && bytes)
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  else
    lifted_store(to, into, lifted_load(from, dtype));
}

uint32_t lifted_constant(double value) { return lifted::name_of_constant(value); }

void seed_names(int64_t seed) { lifted::seed_names(static_cast<uint64_t>(seed)); }

// An element of a word for a matrix product, as the name of a float.
uint32_t lifted_element(const std::string& type, uint32_t word, unsigned index) {
  const auto small = static_cast<uint16_t>(word >> 16 * index);
  if (type == "f16") return lifted::widened(lifted::Small::HALF, small);
  if (type == "bf16") return lifted::widened(lifted::Small::BFLOAT16, small);
  if (type == "tf32") return word;
  unsupported(("lifted matrix products of " + type).c_str());
}

uint32_t lifted_multiply_add(uint32_t a, uint32_t b, uint32_t c) {
  return lifted::name_of(add(multiply(lifted::number_of(a), lifted::number_of(b)), lifted::number_of(c)));
}

uint16_t lifted_half(uint32_t name) { return lifted::narrowed(lifted::Small::HALF, name); }

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
