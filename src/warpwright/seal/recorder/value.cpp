#include "value.h"

namespace warpwright {
namespace {

const Value* last_noted = nullptr;

template <class T>
const T& expect(const Value& value, const char* wanted) {
  if (const T* found = value.content().as<T>()) return *found;
  throw Mismatch(wanted);
}

const Values& items_of(const Value& value) {
  if (auto tuple = value.content().as<Tuple>()) return tuple->items;
  return expect<Values>(value, "list");
}

template <class T, class F>
std::vector<T> list_from(const Value& value, F convert) {
  std::vector<T> list;
  for (const Value& item : items_of(value)) list.push_back(convert(item));
  return list;
}

}  // namespace

Value::Value() : content_(new Content) {}
Value::Value(const at::Tensor& tensor) : Value() {
  if (tensor.defined()) content_->held = tensor;
}
Value::Value(bool value) : content_(new Content{value}) {}
Value::Value(int64_t value) : content_(new Content{value}) {}
Value::Value(double value) : content_(new Content{value}) {}
Value::Value(const char* text) : Value(std::string(text)) {}
Value::Value(const std::string& text) : content_(new Content{text}) {}
Value::Value(c10::ScalarType type) : content_(new Content{type}) {}
Value::Value(const c10::Device& device) : Value(device.str()) {}
Value::Value(const c10::Scalar& value) : Value() {
  if (value.isFloatingPoint()) content_->held = value.toDouble();
  else if (value.isBoolean()) content_->held = value.toBool();
  else content_->held = value.toLong();
}
Value::Value(const Value& other) : content_(new Content(*other.content_)) {}
Value::Value(Value&& other) noexcept : content_(std::exchange(other.content_, new Content)) {}
Value& Value::operator=(Value other) noexcept {
  std::swap(content_, other.content_);
  return *this;
}
Value::~Value() { delete content_; }
Value Value::list() { return Value(new Content{Values()}); }
Value Value::tuple() { return Value(new Content{Tuple()}); }
Value Value::dictionary() { return Value(new Content{Dictionary()}); }

void Value::append(const Value& item) {
  if (auto tuple = std::get_if<Tuple>(&content_->held)) tuple->items.push_back(item);
  else std::get<Values>(content_->held).push_back(item);
}
void Value::set(const std::string& key, const Value& item) {
  std::get<Dictionary>(content_->held).items.emplace_back(key, item);
}
bool Value::is_none() const { return content_->held.index() == 0; }
size_t Value::size() const { return items_of(*this).size(); }
const Value& Value::item(size_t position) const { return items_of(*this).at(position); }

void mismatch(const char* wanted) { throw Mismatch(wanted); }
const Value& noted(const Value& value) { return *(last_noted = &value); }
const Value* noted_last() { return last_noted; }

const at::Tensor& tensor_from(const Value& value) { return expect<at::Tensor>(value, "tensor"); }
const std::string& text_from(const Value& value) { return expect<std::string>(value, "string"); }
c10::ScalarType dtype_from(const Value& value) { return expect<c10::ScalarType>(value, "dtype"); }
c10::Device device_from(const Value& value) { return c10::Device(expect<std::string>(value, "device")); }
bool truth_from(const Value& value) {
  if (auto whole = value.content().as<int64_t>()) return *whole != 0;
  return expect<bool>(value, "bool");
}
int64_t whole_from(const Value& value) {
  if (auto truth = value.content().as<bool>()) return *truth;
  return expect<int64_t>(value, "int");
}
double real_from(const Value& value) {
  if (auto whole = value.content().as<int64_t>()) return static_cast<double>(*whole);
  if (auto truth = value.content().as<bool>()) return *truth;
  return expect<double>(value, "float");
}
c10::Scalar number_from(const Value& value) {
  if (auto whole = value.content().as<int64_t>()) return *whole;
  if (auto truth = value.content().as<bool>()) return *truth;
  return expect<double>(value, "number");
}
std::vector<at::Tensor> tensors_from(const Value& value) { return list_from<at::Tensor>(value, tensor_from); }
std::vector<int64_t> wholes_from(const Value& value) {
  if (auto whole = value.content().as<int64_t>()) return {*whole};
  return list_from<int64_t>(value, whole_from);
}
std::vector<double> reals_from(const Value& value) { return list_from<double>(value, real_from); }

const char* kind_of(const Value& value) {
  static const char* const names[] = {"none",   "bool",  "int",  "float", "string",
                                      "tensor", "dtype", "list", "tuple", "dict"};
  return names[value.content().held.index()];
}

std::string text_of(const TypeName& type) {
  return type.of ? std::string(type.word) + " " + text_of(*type.of) : type.word;
}

Entry entry_of(const std::string& name, const Callable& callable) {
  Entry entry{name, "", {}, callable};
  for (size_t i = 0; i < callable.count; ++i)
    entry.parameters.push_back({text_of(*callable.types[i]), "", std::nullopt});
  return entry;
}

struct EntryBuilder::State {
  Entry entry;
  size_t next = 0;
};
EntryBuilder::EntryBuilder(const char* name, const Callable& callable) : state_(new State{entry_of(name, callable)}) {}
EntryBuilder::~EntryBuilder() {
  entries().push_back(std::move(state_->entry));
  delete state_;
}
void EntryBuilder::parameter(const char* name) {
  if (state_->next < state_->entry.parameters.size()) state_->entry.parameters[state_->next].name = name;
  ++state_->next;
}
void EntryBuilder::parameter(const char* name, const Value& fallback) {
  if (state_->next < state_->entry.parameters.size()) state_->entry.parameters[state_->next].fallback = fallback;
  parameter(name);
}

}  // namespace warpwright
