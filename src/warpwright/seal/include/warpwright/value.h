// Values passed between a request and the host code, in place of Python objects.
//
// Opaque and out of line, like all of binding: the text of a candidate then instantiates little more than the
// call of its own function.
#ifndef WARPWRIGHT_VALUE_H
#define WARPWRIGHT_VALUE_H

#include "warpwright/tensor.h"

namespace warpwright {

class Value {
 public:
  struct Content;

  Value();                          // None
  Value(const at::Tensor& tensor);  // None when undefined
  Value(bool value);
  Value(int64_t value);
  Value(double value);
  Value(const char* text);
  Value(const std::string& text);
  Value(c10::ScalarType type);
  Value(const c10::Scalar& value);
  Value(const c10::Device& device);
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(Value other) noexcept;
  ~Value();
  static Value list();
  static Value tuple();
  static Value dictionary();

  void append(const Value& item);
  void set(const std::string& key, const Value& item);
  bool is_none() const;
  // Of a list or a tuple; anything else is a mismatch.
  size_t size() const;
  const Value& item(size_t position) const;
  const Content& content() const { return *content_; }

 private:
  explicit Value(Content* content) : content_(content) {}
  Content* content_;
};

// The name of a parameter's type, such as "optional tensor", put together when it is printed.
struct TypeName {
  const char* word;
  const TypeName* of;
};

[[noreturn]] void mismatch(const char* wanted);
// Remembers the value being converted, so that a mismatch can name the argument.
const Value& noted(const Value& value);
const at::Tensor& tensor_from(const Value& value);
bool truth_from(const Value& value);
int64_t whole_from(const Value& value);
double real_from(const Value& value);
c10::Scalar number_from(const Value& value);
const std::string& text_from(const Value& value);
c10::ScalarType dtype_from(const Value& value);
c10::Device device_from(const Value& value);
std::vector<at::Tensor> tensors_from(const Value& value);
// A single number stands for a list of one, as torch's own binding has it.
std::vector<int64_t> wholes_from(const Value& value);
std::vector<double> reals_from(const Value& value);

// A host function with its types erased.
struct Callable {
  Value (*call)(void* function, const Value* arguments);
  void* function;
  const TypeName* const* types;
  size_t count;
};

// An entry point under construction; it is registered when the builder goes out of scope.
class EntryBuilder {
 public:
  EntryBuilder(const char* name, const Callable& callable);
  EntryBuilder(const EntryBuilder&) = delete;
  ~EntryBuilder();
  void parameter(const char* name);
  void parameter(const char* name, const Value& fallback);

 private:
  struct State;
  State* state_;
};

}  // namespace warpwright

#endif
