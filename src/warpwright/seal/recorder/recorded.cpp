// Host code that is written from a record of Python code.
#include "warpwright/recorded.h"

#include "binding.h"
#include "impl.h"

namespace warpwright {
namespace {

void collect(const Value& value, std::vector<at::Tensor>& tensors) {
  if (auto tensor = value.content().as<at::Tensor>()) tensors.push_back(*tensor);
  if (auto items = value.content().as<Values>())
    for (const Value& item : *items) collect(item, tensors);
  if (auto tuple = value.content().as<Tuple>())
    for (const Value& item : tuple->items) collect(item, tensors);
  if (auto dictionary = value.content().as<Dictionary>())
    for (const auto& [key, item] : dictionary->items) collect(item, tensors);
}

std::string joined(c10::IntArrayRef numbers) {
  std::string text;
  for (int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

// The names that plans give to element types.
std::string plan_name(c10::ScalarType type) {
  static const std::map<std::string, std::string> names{
      {"float64", "fp64"},       {"float32", "fp32"},      {"float16", "fp16"},
      {"bfloat16", "bf16"}, {"float8_e4m3fn", "e4m3"}, {"float8_e5m2", "e5m2"}};
  auto found = names.find(python_name(type));
  return found == names.end() ? python_name(type) : found->second;
}

}  // namespace

void operation(const char* name, const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs,
               const char* options) {
  if (std::strcmp(name, "copy_") == 0) return copy_into(outputs.at(0), inputs.at(0));
  std::vector<at::Tensor> there;
  for (const at::Tensor& input : inputs)
    there.push_back(input.defined() && !input.is_cuda() ? input.to(c10::Device(c10::kCUDA)) : input);
  library(name, there, outputs, *Json::parse(options).as<Object>());
}

std::vector<at::Tensor> called(const char* entry, const std::vector<Value>& arguments, const Named& keywords) {
  std::vector<std::pair<std::string, Value>> named(keywords.begin(), keywords.end());
  std::vector<at::Tensor> tensors;
  collect(call_entry(find_entry(entry), arguments, named), tensors);
  return tensors;
}

Value listed(const std::vector<Value>& items) {
  Value list = Value::list();
  for (const Value& item : items) list.append(item);
  return list;
}

at::Tensor memory(const at::Tensor& tensor) {
  auto impl = tensor.unsafeGetTensorImpl();
  return window(impl->storage, {static_cast<int64_t>(impl->storage->bytes)}, {1}, 0, c10::kByte);
}

bool are(const std::vector<at::Tensor>& tensors, const char* forms) {
  std::string found;
  for (const at::Tensor& tensor : tensors)
    found += (found.empty() ? "" : " ") + plan_name(tensor.scalar_type()) + "[" + joined(tensor.sizes()) + "|" +
             joined(tensor.strides()) + "]";
  return found == forms;
}

}  // namespace warpwright
