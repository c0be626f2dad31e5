// The hooks of the compiler's undefined-behaviour checks: array bounds, shifts and divisions, with their places.
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "machine.h"

using namespace warpwright::emulated;

namespace {

struct Place {
  const char* file;
  uint32_t line, column;
};
struct Type {
  uint16_t kind, facts;
  char name[1];
};
struct TypedPlace {
  Place place;
  const Type* type;
};

void report(const Place& place, const char* kind, Severity severity, std::string message) {
  Machine& machine = Machine::current();
  if (!machine.in_kernel() || hot.stack == 0) return;
  Finding finding;
  finding.kind = kind;
  finding.severity = severity;
  finding.file = place.file ? place.file : "";
  finding.line = place.line;
  finding.message = std::move(message);
  machine.report(std::move(finding));
}

long long signed_value(const Type* type, uintptr_t bits) {
  const unsigned width = 1u << (type->facts >> 1);
  if (width > 64) return *reinterpret_cast<long long*>(bits);
  return type->facts & 1 && width < 64 ? static_cast<long long>(bits << (64 - width)) >> (64 - width)
                                       : static_cast<long long>(bits);
}

}  // namespace

extern "C" {

struct BoundsData {
  Place place;
  const Type *array, *index;
};
void __ubsan_handle_out_of_bounds(BoundsData* data, uintptr_t index) {
  if (!Machine::current().in_kernel() || hot.stack == 0) return;
  const char* extent = std::strrchr(data->array->name, '[');
  note_bounds({data->place.file, data->place.line, signed_value(data->index, index),
               extent ? std::strtoll(extent + 1, nullptr, 10) : 0, data->array->name});
}
struct ShiftData {
  Place place;
  const Type *left, *right;
};
void __ubsan_handle_shift_out_of_bounds(ShiftData* data, uintptr_t left, uintptr_t right) {
  const long long by = signed_value(data->right, right);
  const unsigned width = 1u << (data->left->facts >> 1);
  // A negative number shifted left is well defined where kernels run.
  if (by >= 0 && by < width) return;
  report(data->place, "shift", Severity::LIKELY,
         "a shift by " + std::to_string(by) + " of a value of " + std::to_string(width) + " bits");
}
void __ubsan_handle_divrem_overflow(TypedPlace* data, uintptr_t, uintptr_t) {
  report(data->place, "division", Severity::LIKELY, "an integer division by zero, or one that overflows");
}
#define WARPWRIGHT_OVERFLOW(NAME)                                                                  \
  void __ubsan_handle_##NAME##_overflow(TypedPlace* data, uintptr_t, uintptr_t) {                  \
    report(data->place, "overflow", Severity::TOLERATED, "signed arithmetic overflows and wraps"); \
  }
WARPWRIGHT_OVERFLOW(add)
WARPWRIGHT_OVERFLOW(sub)
WARPWRIGHT_OVERFLOW(mul)
void __ubsan_handle_negate_overflow(TypedPlace* data, uintptr_t) {
  report(data->place, "overflow", Severity::TOLERATED, "signed arithmetic overflows and wraps");
}

[[noreturn]] void __assert_fail(const char* condition, const char* file, unsigned line, const char*) noexcept(false) {
  std::string message = std::string("assertion failed: ") + condition;
  if (!Machine::current().in_kernel()) throw std::runtime_error(message);
  Finding finding;
  finding.kind = "assert";
  finding.file = file;
  finding.line = line;
  finding.message = message;
  Machine::current().report(std::move(finding));
  Machine::current().end("stopped", "assert");
}
}
