// The contents of a Value, and entry points as used by the driver.
#ifndef WARPWRIGHT_RECORDER_VALUE_H
#define WARPWRIGHT_RECORDER_VALUE_H

#include "recorder.h"

namespace warpwright {

using Values = std::vector<Value>;
struct Tuple {
  Values items;
};
struct Dictionary {
  std::vector<std::pair<std::string, Value>> items;
};

struct Value::Content {
  std::variant<std::monostate, bool, int64_t, double, std::string, at::Tensor, c10::ScalarType, Values, Tuple,
               Dictionary>
      held;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&held);
  }
};

// A value that does not fit a parameter. The binding adds the parameter's position.
struct Mismatch : std::exception {
  explicit Mismatch(std::string wanted) : wanted(std::move(wanted)) {}
  const char* what() const noexcept override { return wanted.c_str(); }
  std::string wanted;
};

struct Parameter {
  std::string type;
  std::string name;
  std::optional<Value> fallback;
};

struct Entry {
  std::string name;
  std::string library;
  std::vector<Parameter> parameters;
  Callable callable;
};

std::vector<Entry>& entries();
Entry entry_of(const std::string& name, const Callable& callable);
const Value* noted_last();
const char* kind_of(const Value& value);
std::string text_of(const TypeName& type);

}  // namespace warpwright

#endif
