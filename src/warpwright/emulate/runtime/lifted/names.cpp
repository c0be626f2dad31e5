// Names: a table from the bits of each float to the number that it stands for.
#include "names.h"

#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

namespace warpwright {
[[noreturn]] void unsupported(const char* name);

namespace lifted {
namespace {

constexpr uint32_t INFINITE = 0x7f800000u, MOST = 1u << 25, ODD_BITS = 0xfff;
constexpr double HUGE_CONSTANT = 1e30, MOST_WHOLE = 1 << 20;
constexpr int LARGEST_REACH = 21, TENS = 46;

uint32_t used = 1;
uint64_t names_seed = 0;

template <class T>
T* reserved_memory(size_t count) {
  void* place =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::runtime_error("no memory for lifted numbers");
  return static_cast<T*>(place);
}

Number* numbers() {
  static Number* const memory = reserved_memory<Number>(MOST);
  return memory;
}

// The position of the number that each positive float names, or zero. Only the pages in use take memory.
uint32_t* positions() {
  static uint32_t* const memory = reserved_memory<uint32_t>(INFINITE);
  return memory;
}

float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }
uint32_t as_bits(float value) { return __builtin_bit_cast(uint32_t, value); }

double ten_to(int exponent) {
  static const double* const powers = [] {
    static double table[2 * TENS + 1];
    for (int i = -TENS; i <= TENS; ++i) table[i + TENS] = std::pow(10.0, i);
    return table;
  }();
  return powers[exponent + TENS];
}

bool has_six_digits(double x) {
  const int scale = 5 - static_cast<int>(std::floor(std::log10(x)));
  if (scale < -TENS || scale > TENS) return false;
  const double digits = std::nearbyint(x * ten_to(scale));
  const double shown = scale < 0 ? digits * ten_to(-scale) : digits / ten_to(scale);
  return static_cast<float>(shown) == static_cast<float>(x);
}

// Whether a program may mean this float by its bits alone.
bool is_constant(uint32_t magnitude) {
  const double x = as_float(magnitude);
  const bool is_whole = x <= MOST_WHOLE && x == std::floor(x);
  return !(magnitude & ODD_BITS) || x >= HUGE_CONSTANT || is_whole || (x > 1e-37 && has_six_digits(x));
}

bool is_same(const Number& a, const Number& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool is_plain(const Number& x) {
  if (!(std::fabs(x.value) <= MOST_WHOLE) || x.value != std::floor(x.value)) return false;
  return is_same(whole(static_cast<int64_t>(x.value)), x);
}

uint32_t enter(uint32_t magnitude, const Number& x) {
  if (used == MOST) unsupported("more than 33 million lifted numbers");
  numbers()[used] = x;
  positions()[magnitude] = used++;
  return magnitude;
}

uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

// Tries floats ever further away; a number tries the same ones each time.
uint32_t name_of_positive(const Number& x) {
  uint32_t near = as_bits(static_cast<float>(x.value));
  if (near >= INFINITE) near = INFINITE - 1;
  if (is_constant(near) && is_same(read(as_float(near)), x)) return near;
  uint64_t random = mixed(names_seed ^ (uint64_t{x.residue[0]} << 32 | x.residue[LEVELS - 1]) ^ x.residue[1]);
  for (int tries = 0;; ++tries, random = mixed(random + 0x9e3779b97f4a7c15ull)) {
    const int64_t reach = int64_t{2} << (tries < LARGEST_REACH ? tries : LARGEST_REACH);
    const int64_t tried = near + static_cast<int64_t>(random % (2 * reach + 1)) - reach;
    if (tried < 1 || tried >= INFINITE) continue;
    const auto magnitude = static_cast<uint32_t>(tried);
    const uint32_t position = positions()[magnitude];
    if (position && is_same(numbers()[position], x)) return magnitude;
    if (!position && !is_constant(magnitude)) return enter(magnitude, x);
  }
}

struct Format {
  uint32_t sign, infinite, odd_bits;
  int shift;  // how many bits of a float's mantissa are cut off
  uint32_t bias;
  uint32_t names[1 << 15];
};

Format& format_of(Small format) {
  // The exponents of half begin where a float's have the bias 127 - 15.
  static Format half{0x8000, 0x7c00, 0x7f, 13, (127 - 15) << 10, {}}, bfloat16{0x8000, 0x7f80, 0xf, 16, 0, {}};
  return format == Small::HALF ? half : bfloat16;
}

// The small float whose bits are cut from those of a float, for normal ones.
uint32_t cut(const Format& format, uint32_t magnitude) {
  const int64_t bits = static_cast<int64_t>((magnitude + (1u << (format.shift - 1))) >> format.shift) - format.bias;
  return bits < 1 ? 1 : bits >= format.infinite ? format.infinite - 1 : static_cast<uint32_t>(bits);
}

uint32_t exact_float(const Format& format, uint32_t bits) {
  if (format.bias && bits < 0x400) return as_bits(static_cast<float>(bits) * as_float((127 - 24) << 23));
  return (bits + format.bias) << format.shift;
}

bool is_constant(const Format& format, uint32_t bits) { return !(bits & format.odd_bits) || bits + 1 == format.infinite; }

}  // namespace

void seed_names(uint64_t seed) { names_seed = mixed(seed); }

Number number_of(uint32_t bits) {
  const uint32_t magnitude = bits & ~SIGN;
  const uint32_t position = magnitude < INFINITE ? positions()[magnitude] : 0;
  if (position) return bits & SIGN ? negated(numbers()[position]) : numbers()[position];
  return magnitude >= INFINITE || is_constant(magnitude) || has_meaning(as_float(magnitude)) ? read(as_float(bits))
                                                                                            : lost(as_float(bits));
}

uint32_t name_of(const Number& x) {
  if (!std::isfinite(x.value) || is_plain(x)) return as_bits(static_cast<float>(x.value));
  return std::signbit(x.value) ? name_of_positive(negated(x)) | SIGN : name_of_positive(x);
}

uint32_t name_of_constant(double value) {
  const uint32_t bits = as_bits(static_cast<float>(value)), magnitude = bits & ~SIGN;
  if (magnitude == 0 || magnitude >= INFINITE || is_constant(magnitude)) return bits;
  const Number meant = read(as_float(magnitude));
  if (!positions()[magnitude]) enter(magnitude, meant);
  return is_same(numbers()[positions()[magnitude]], meant) ? bits : name_of(number_of(name_of(read(as_float(bits)))));
}

uint16_t narrowed(Small kind, uint32_t name) {
  Format& format = format_of(kind);
  const uint32_t magnitude = name & ~SIGN;
  const uint16_t sign = name & SIGN ? format.sign : 0;
  if (magnitude == 0) return sign;
  if (magnitude >= INFINITE) return sign | format.infinite | (magnitude > INFINITE ? 1 : 0);
  const uint32_t near = cut(format, magnitude);
  for (uint32_t distance = 0; distance < 2 * format.infinite; ++distance) {
    const int64_t tried = near + (distance & 1 ? int64_t{distance + 1} / 2 : -int64_t{distance} / 2);
    if (tried < 1 || tried >= format.infinite) continue;
    const auto bits = static_cast<uint32_t>(tried);
    if (is_constant(format, bits) ? exact_float(format, bits) == magnitude : format.names[bits] == magnitude)
      return sign | bits;
    if (!is_constant(format, bits) && !format.names[bits]) {
      format.names[bits] = magnitude;
      return sign | bits;
    }
  }
  unsupported("more distinct numbers in sixteen bits than there are names");
}

uint32_t widened(Small kind, uint16_t all) {
  const Format& format = format_of(kind);
  const uint32_t bits = all & ~format.sign, sign = all & format.sign ? SIGN : 0;
  if (bits == 0) return sign;
  if (bits >= format.infinite) return sign | INFINITE | (bits > format.infinite ? 0x400000u : 0);
  const uint32_t named = is_constant(format, bits) ? 0 : format.names[bits];
  return sign | (named ? named : exact_float(format, bits));
}

}  // namespace lifted
}  // namespace warpwright
