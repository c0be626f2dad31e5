// Arithmetic PTX: integers are computed as wide integers, floats as doubles, rounded once to the type.
#include <cmath>
#include <cstring>

#include "ptx.h"
#include "warpwright/emulated/arithmetic.h"
#include "warpwright/half_bits.h"

namespace warpwright::emulated {

// Only lifted programs have this function.
__attribute__((weak)) bool lifted_ptx(const std::string& operation, const uint32_t* operands, uint32_t& result);

namespace {

using Wide = __int128;

bool is_real(const std::string& type) { return type[0] == 'f' || type.rfind("bf", 0) == 0 || type.rfind("tf", 0) == 0; }
bool is_pair(const std::string& type) { return type.size() > 2 && type.compare(type.size() - 2, 2, "x2") == 0; }
bool is_signed(const std::string& type) { return type[0] == 's'; }

uint64_t cut(uint64_t bits, size_t bytes) { return bytes >= 8 ? bits : bits & ((uint64_t(1) << 8 * bytes) - 1); }

Wide whole(const std::string& type, uint64_t bits) {
  const size_t bytes = bytes_of_type(type);
  bits = cut(bits, bytes);
  if (!is_signed(type)) return bits;
  const unsigned spare = 64 - 8 * static_cast<unsigned>(bytes);
  return static_cast<int64_t>(bits << spare) >> spare;
}

double real(const std::string& type, uint64_t bits) {
  if (type == "f64") return bits_as<double>(bits);
  if (type == "f16") return HalfBits::widen(static_cast<uint32_t>(bits & 0xffff));
  if (type == "bf16") return BFloat16Bits::widen(static_cast<uint32_t>(bits & 0xffff));
  return bits_as<float>(static_cast<uint32_t>(bits));
}

uint64_t bits_of_real(const std::string& type, double value) {
  if (type == "f64") return bits_as<uint64_t>(value);
  if (type == "f16") return HalfBits::narrow(static_cast<float>(value));
  if (type == "bf16") return BFloat16Bits::narrow(static_cast<float>(value));
  if (type == "tf32") {
    uint32_t bits = bits_as<uint32_t>(static_cast<float>(value));
    return (bits + 0x1000u) & ~0x1fffu;
  }
  return bits_as<uint32_t>(static_cast<float>(value));
}

using Reals = double (*)(const double*);
Reals real_function(const std::string& name) {
  if (name == "add") return [](const double* v) { return v[0] + v[1]; };
  if (name == "sub") return [](const double* v) { return v[0] - v[1]; };
  if (name == "mul") return [](const double* v) { return v[0] * v[1]; };
  if (name == "div") return [](const double* v) { return v[0] / v[1]; };
  if (name == "fma" || name == "mad") return [](const double* v) { return std::fma(v[0], v[1], v[2]); };
  if (name == "min") return [](const double* v) { return std::fmin(v[0], v[1]); };
  if (name == "max") return [](const double* v) { return std::fmax(v[0], v[1]); };
  if (name == "abs") return [](const double* v) { return std::fabs(v[0]); };
  if (name == "neg") return [](const double* v) { return -v[0]; };
  if (name == "ex2") return [](const double* v) { return std::exp2(v[0]); };
  if (name == "lg2") return [](const double* v) { return std::log2(v[0]); };
  if (name == "rcp") return [](const double* v) { return 1.0 / v[0]; };
  if (name == "rsqrt") return [](const double* v) { return 1.0 / std::sqrt(v[0]); };
  if (name == "sqrt") return [](const double* v) { return std::sqrt(v[0]); };
  if (name == "sin") return [](const double* v) { return std::sin(v[0]); };
  if (name == "cos") return [](const double* v) { return std::cos(v[0]); };
  if (name == "tanh") return [](const double* v) { return std::tanh(v[0]); };
  return nullptr;
}

// Modifiers that change the result and are not implemented below.
bool has_other_rounding_or_sign(const Instruction& in) {
  for (const char* qualifier : {"rz", "rm", "rp", "rna", "relu", "xorsign"})
    if (in.has(qualifier)) return true;
  return false;
}

// Arithmetic of f32 whose operands are lifted numbers; unsupported operations end the run.
bool compute_lifted(PtxRun& run, const Instruction& in) {
  uint32_t operands[3] = {};
  for (size_t i = 1; i < in.operands.size() && i < 4; ++i)
    operands[i - 1] = static_cast<uint32_t>(run.get(in.operands[i]));
  const bool is_plain = !has_other_rounding_or_sign(in) && !in.has("sat") && !in.has("NaN");
  uint32_t result;
  if (!is_plain || !lifted_ptx(in.opcode[0], operands, result)) unsupported("lifted ptx arithmetic");
  run.set(in.operands[0], result);
  return true;
}

bool compute_real(PtxRun& run, const Instruction& in) {
  Reals function = real_function(in.opcode[0]);
  if (function && lifted_ptx && in.type() == "f32") return compute_lifted(run, in);
  if (function && lifted_ptx && is_real(in.type())) unsupported("lifted ptx arithmetic on other types than f32");
  if (!function || has_other_rounding_or_sign(in)) return false;
  const std::string type = in.type(), element = is_pair(type) ? type.substr(0, type.size() - 2) : type;
  uint64_t result = 0;
  for (unsigned half = 0; half < (is_pair(type) ? 2u : 1u); ++half) {
    double values[3] = {};
    for (size_t i = 1; i < in.operands.size() && i < 4; ++i)
      values[i - 1] = real(element, run.get(in.operands[i]) >> 16 * half);
    double value = function(values);
    if (in.has("NaN") && (std::isnan(values[0]) || std::isnan(values[1]))) value = NAN;
    if (in.has("sat")) value = value > 0 ? (value < 1 ? value : 1.0) : 0.0;
    result |= bits_of_real(element, value) << 16 * half;
  }
  run.set(in.operands[0], result);
  return true;
}

Wide shifted(const std::string& name, const std::string& type, Wide value, uint64_t by) {
  const unsigned width = 8 * static_cast<unsigned>(bytes_of_type(type));
  if (name == "shl") return by >= width ? 0 : value << by;
  return by >= width ? (is_signed(type) && value < 0 ? -1 : 0) : value >> by;
}

bool compute_whole(PtxRun& run, const Instruction& in) {
  const std::string& name = in.opcode[0];
  const std::string& type = in.type();
  auto get = [&](size_t i) { return whole(type, run.get(in.operands[i])); };
  const unsigned width = 8 * static_cast<unsigned>(bytes_of_type(type));
  Wide result;
  if (name == "add")
    result = get(1) + get(2);
  else if (name == "sub")
    result = get(1) - get(2);
  else if (name == "mul" || name == "mad") {
    result = get(1) * get(2);
    if (in.has("hi")) result >>= width;
    if (name == "mad") result += in.has("wide") ? static_cast<Wide>(run.get(in.operands[3])) : get(3);
  } else if (name == "div" || name == "rem") {
    if (get(2) == 0)
      result = 0;
    else
      result = name == "div" ? get(1) / get(2) : get(1) % get(2);
  } else if (name == "min")
    result = get(1) < get(2) ? get(1) : get(2);
  else if (name == "max")
    result = get(1) < get(2) ? get(2) : get(1);
  else if (name == "abs")
    result = get(1) < 0 ? -get(1) : get(1);
  else if (name == "neg")
    result = -get(1);
  else if (name == "and")
    result = get(1) & get(2);
  else if (name == "or")
    result = get(1) | get(2);
  else if (name == "xor")
    result = get(1) ^ get(2);
  else if (name == "not")
    result = ~get(1);
  else if (name == "shl" || name == "shr")
    result = shifted(name, type, get(1), run.get(in.operands[2]) & 0xffffffffu);
  else if (name == "popc")
    result = __builtin_popcountll(static_cast<uint64_t>(get(1)));
  else if (name == "clz")
    result = get(1) == 0 ? width : __builtin_clzll(static_cast<uint64_t>(get(1))) - (64 - width);
  else if (name == "brev")
    result = width == 32 ? __brev(static_cast<unsigned>(get(1)))
                         : static_cast<Wide>(__brevll(static_cast<uint64_t>(get(1))));
  else
    return false;
  run.set(in.operands[0], cut(static_cast<uint64_t>(result), in.has("wide") ? 8 : bytes_of_type(type)));
  return true;
}

bool compute_bits(PtxRun& run, const Instruction& in) {
  const std::string& name = in.opcode[0];
  auto get = [&](size_t i) { return run.get(in.operands[i]); };
  if (name == "bfe") {
    const unsigned from = get(2) & 255, count = get(3) & 255;
    const bool wide = bytes_of_type(in.type()) == 8;
    uint64_t bits = from >= 64 ? 0 : cut(get(1), wide ? 8 : 4) >> from;
    if (count < 64) bits &= (uint64_t(1) << count) - 1;
    if (is_signed(in.type()) && count && count < 64 && bits >> (count - 1) & 1) bits |= ~uint64_t(0) << count;
    run.set(in.operands[0], cut(bits, wide ? 8 : 4));
  } else if (name == "bfi") {
    const unsigned at = get(3) & 255, count = get(4) & 255;
    const uint64_t mask = at >= 64 ? 0 : (count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1) << at;
    run.set(in.operands[0], cut((get(2) & ~mask) | (at >= 64 ? 0 : get(1) << at & mask), bytes_of_type(in.type())));
  } else if (name == "prmt") {
    run.set(in.operands[0],
            __byte_perm(static_cast<unsigned>(get(1)), static_cast<unsigned>(get(2)), static_cast<unsigned>(get(3))));
  } else if (name == "lop3") {
    const unsigned a = static_cast<unsigned>(get(1)), b = static_cast<unsigned>(get(2)),
                   c = static_cast<unsigned>(get(3)), table = static_cast<unsigned>(get(4));
    unsigned result = 0;
    for (int i = 0; i < 32; ++i) result |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1u) << i;
    run.set(in.operands[0], result);
  } else if (name == "shf") {
    const unsigned low = static_cast<unsigned>(get(1)), high = static_cast<unsigned>(get(2)),
                   by = static_cast<unsigned>(get(3));
    run.set(in.operands[0], in.has("l")
                                ? (in.has("clamp") ? __funnelshift_lc(low, high, by) : __funnelshift_l(low, high, by))
                                : (in.has("clamp") ? __funnelshift_rc(low, high, by) : __funnelshift_r(low, high, by)));
  } else {
    return false;
  }
  return true;
}

bool compare(PtxRun& run, const Instruction& in) {
  const std::string& how = in.opcode[1];
  const std::string& type = in.type();
  const uint64_t a = run.get(in.operands[1]), b = run.get(in.operands[2]);
  auto holds = [&](auto x, auto y) {
    return how == "eq"     ? x == y
           : how == "ne"   ? x != y
           : how[0] == 'l' ? (how[1] == 't' || how == "lo" ? x < y : x <= y)
           : how[0] == 'g' ? (how[1] == 't' ? x > y : x >= y)
           : how == "hi"   ? x > y
                           : x >= y;
  };
  if (lifted_ptx && is_real(type)) unsupported("lifted ptx comparison");
  const bool result = is_real(type) ? holds(real(type, a), real(type, b)) : holds(whole(type, a), whole(type, b));
  run.set(PtxRun::elements(in.operands[0])[0], result);
  return true;
}

// cvt.to.from, with two sources for packed results: the first goes to the upper half.
bool convert(PtxRun& run, const Instruction& in) {
  const std::string to = in.opcode[in.opcode.size() - 2], from = in.type();
  auto value_of = [&](size_t i) {
    const uint64_t bits = run.get(in.operands[i]);
    return is_real(from) ? real(from, bits) : static_cast<double>(whole(from, bits));
  };
  if (is_pair(to)) {
    const std::string element = to.substr(0, to.size() - 2);
    if (element != "f16" && element != "bf16") return false;
    run.set(in.operands[0], bits_of_real(element, value_of(1)) << 16 | bits_of_real(element, value_of(2)));
    return true;
  }
  if (is_real(to)) {
    run.set(in.operands[0], bits_of_real(to, value_of(1)));
    return true;
  }
  if (!is_real(from)) {
    run.set(in.operands[0], cut(static_cast<uint64_t>(whole(from, run.get(in.operands[1]))), bytes_of_type(to)));
    return true;
  }
  const double value = value_of(1);
  const double rounded = in.has("rni")   ? std::nearbyint(value)
                         : in.has("rmi") ? std::floor(value)
                         : in.has("rpi") ? std::ceil(value)
                                         : std::trunc(value);
  const bool narrow = bytes_of_type(to) <= 4;
  run.set(in.operands[0],
          cut(is_signed(to) ? static_cast<uint64_t>(narrow ? clamped<int>(rounded) : clamped<long long>(rounded))
              : narrow      ? clamped<unsigned>(rounded)
                            : clamped<unsigned long long>(rounded),
              bytes_of_type(to)));
  return true;
}

// mov also packs and unpacks: mov.b64 {lo, hi}, x.
bool move(PtxRun& run, const Instruction& in) {
  const std::vector<std::string> to = PtxRun::elements(in.operands[0]), from = PtxRun::elements(in.operands[1]);
  const size_t bits = 8 * bytes_of_type(in.type());
  uint64_t value = 0;
  for (size_t i = 0; i < from.size(); ++i)
    value |= cut(run.get(from[i]), from.size() > 1 ? bits / 8 / from.size() : 8) << (i * bits / from.size());
  for (size_t i = 0; i < to.size(); ++i)
    run.set(to[i], to.size() > 1 ? cut(value >> (i * bits / to.size()), bits / 8 / to.size()) : value);
  return true;
}

}  // namespace

size_t bytes_of_type(const std::string& type) {
  if (type == "pred") return 1;
  const size_t digit = type.find_first_of("0123456789");
  if (digit == std::string::npos) return 0;
  const size_t bits = static_cast<size_t>(std::atoi(type.c_str() + digit));
  return bits / 8 * (is_pair(type) ? 2 : 1);
}

bool run_arithmetic(PtxRun& run, const Instruction& in) {
  const std::string& name = in.opcode[0];
  if (name == "mov") return move(run, in);
  if (name == "cvt") return convert(run, in);
  if (name == "setp") return compare(run, in);
  if (name == "selp")
    return run.set(in.operands[0], run.get(run.get(in.operands[3]) & 1 ? in.operands[1] : in.operands[2])), true;
  if (name == "cvta") {
    const uint64_t pointer = run.get(in.operands[1]);
    const bool to_shared = in.has("to") && in.has("shared");
    run.set(in.operands[0], to_shared ? shared_address(reinterpret_cast<void*>(pointer))
                            : in.has("shared")
                                ? reinterpret_cast<uint64_t>(shared_pointer(static_cast<unsigned>(pointer)))
                                : pointer);
    return true;
  }
  if (in.opcode.size() < 2 || bytes_of_type(in.type()) == 0) return false;
  if (compute_bits(run, in)) return true;
  return is_real(in.type()) ? compute_real(run, in) : compute_whole(run, in);
}

}  // namespace warpwright::emulated
