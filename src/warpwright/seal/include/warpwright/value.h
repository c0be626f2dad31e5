// Values that cross the border between a request and the host code: what Python would have passed or received.
#ifndef WARPWRIGHT_VALUE_H
#define WARPWRIGHT_VALUE_H

#include "warpwright/tensor.h"

namespace warpwright {

struct Value;
using Values = std::vector<Value>;
struct Tuple {
  Values items;
};
struct Dictionary {
  std::vector<std::pair<std::string, Value>> items;
};

struct Value {
  std::variant<std::monostate, bool, int64_t, double, std::string, at::Tensor, c10::ScalarType, Values, Tuple, Dictionary>
      held;

  bool is_none() const { return held.index() == 0; }
  template <class T>
  const T* as() const { return std::get_if<T>(&held); }
};

const char* kind_of(const Value& value);

// A value that does not fit a parameter. The binding adds which parameter it was.
struct Mismatch {
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
  std::function<Value(const Values&)> call;
};

std::vector<Entry>& entries();
void add_entry(Entry entry);

}  // namespace warpwright

#endif
