// The driver of a capture program: reads requests, writes one trace per line.
#include <alloca.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iostream>

#include "binding.h"
#include "gpu.h"
#include "impl.h"

using namespace warpwright;

namespace warpwright {
// A capture only records; the emulator links another definition that executes the record.
__attribute__((weak)) void carry_out(const Json&, Object&) {}
}  // namespace warpwright

namespace {

at::Tensor tensor_from(const Json& request) {
  auto storage = std::make_shared<Storage>(static_cast<int>(request.at("buffer").whole()), false);
  c10::ScalarType type = type_named(request.at("dtype").string());
  int64_t offset = request.find("offset") ? request.at("offset").whole() : 0;
  at::Tensor tensor = window(std::move(storage), request.at("shape").wholes(), request.at("stride").wholes(),
                             offset / static_cast<int64_t>(c10::elementSize(type)), type);
  if (const Json* wanted = request.find("requires_grad")) tensor.requires_grad_(*wanted->as<bool>());
  return tensor;
}

Value value_from(const Json& request) {
  const auto& [kind, content] = request.as<Object>()->at(0);
  if (kind == "tensor") return tensor_from(content);
  if (kind == "int") return content.whole();
  if (kind == "float") return content.real();
  if (kind == "bool") return *content.as<bool>();
  if (kind == "string") return content.string();
  if (kind == "dtype") return type_named(content.string());
  if (kind == "none") return {};
  if (kind != "list") throw std::runtime_error("bad request: unknown kind of value " + kind);
  Value items = Value::list();
  for (const Json& item : content.array()) items.append(value_from(item));
  return items;
}

Array json_of(const Values& items);

Json json_of(const Value& value) {
  struct Writer {
    Json operator()(std::monostate) const { return Object{{"none", nullptr}}; }
    Json operator()(bool truth) const { return Object{{"bool", truth}}; }
    Json operator()(int64_t whole) const { return Object{{"int", whole}}; }
    Json operator()(double real) const { return Object{{"float", real}}; }
    Json operator()(const std::string& text) const { return Object{{"string", text}}; }
    Json operator()(const at::Tensor& tensor) const { return Object{{"tensor", warpwright::json_of(tensor)}}; }
    Json operator()(c10::ScalarType type) const { return Object{{"dtype", python_name(type)}}; }
    Json operator()(const Values& items) const { return Object{{"list", ::json_of(items)}}; }
    Json operator()(const Tuple& tuple) const { return Object{{"tuple", ::json_of(tuple.items)}}; }
    Json operator()(const Dictionary& dictionary) const {
      Object members;
      for (const auto& [key, item] : dictionary.items) members.emplace_back(key, ::json_of(item));
      return Object{{"dict", members}};
    }
  };
  return std::visit(Writer(), value.content().held);
}

Array json_of(const Values& items) {
  Array list;
  for (const Value& item : items) list.push_back(json_of(item));
  return list;
}

void collect_tensors(const Value& value, Values& tensors) {
  if (value.content().as<at::Tensor>()) tensors.push_back(value);
  if (auto items = value.content().as<Values>())
    for (const Value& item : *items) collect_tensors(item, tensors);
}

Json entry_list() {
  Array list;
  for (const Entry& entry : entries()) {
    Array parameters;
    for (const Parameter& p : entry.parameters)
      parameters.push_back(Object{
          {"type", p.type}, {"name", p.name.empty() ? Json() : Json(p.name)}, {"default", p.fallback.has_value()}});
    list.push_back(Object{{"name", entry.name},
                          {"parameters", parameters},
                          {"library", entry.library.empty() ? Json() : Json(entry.library)}});
  }
  return Object{{"outcome", "entries"}, {"entries", list}};
}

struct Ending {
  std::string outcome = "captured", what, message;
};

// Any exception of the host code is the outcome of the call; only malformed requests propagate.
template <class F>
Ending ending_of(F run) {
  try {
    run();
    return {};
  } catch (const Outcome& outcome) {
    return {outcome.kind, outcome.subject, outcome.message};
  } catch (const c10::Error& error) {
    return {"error", "check", error.what()};
  } catch (const Mismatch& mismatch) {
    return {"error", "exception", "a Python object must be " + mismatch.wanted};
  } catch (const std::exception& error) {
    return {"error", "exception", error.what()};
  } catch (...) {
    return {"error", "exception", "an exception of an unknown type"};
  }
}

// Shifts the stack, so that host code that depends on stack addresses behaves differently in every address space.
Value call_on_shifted_stack(const Json& request, const Values& positional,
                            const std::vector<std::pair<std::string, Value>>& keywords) {
  const Json* scratch = request.find("scratch");
  const uint64_t space = scratch ? static_cast<uint64_t>(scratch->at("base").whole()) >> 36 : 0;
  volatile char* room = static_cast<volatile char*>(alloca(16 * (1 + space % 251)));
  room[0] = 0;
  return call_entry(find_entry(request.at("entry").string()), positional, keywords);
}

Json answer(const Json& request, const Ending& binding) {
  Recorder::current().begin(request);
  describe_gpu(request);
  Values positional, tensors;
  std::vector<std::pair<std::string, Value>> keywords;
  if (const Json* given = request.find("arguments"))
    for (const Json& argument : given->array()) positional.push_back(value_from(argument));
  if (const Json* named = request.find("keywords"))
    for (const auto& [name, argument] : *named->as<Object>()) keywords.emplace_back(name, value_from(argument));
  for (const Value& value : positional) collect_tensors(value, tensors);
  for (const auto& [name, value] : keywords) collect_tensors(value, tensors);

  Value returned;
  Ending ending = binding;
  if (ending.outcome == "captured")
    ending = ending_of([&] { returned = call_on_shifted_stack(request, positional, keywords); });
  if (const auto& refusal = Recorder::current().refusal()) ending = {refusal->kind, refusal->subject, refusal->message};
  Object trace{{"outcome", ending.outcome}, {"what", ending.what}, {"message", ending.message}};
  // The views first: one that refers to memory of an earlier call adds it to the buffers.
  Array arguments = json_of(tensors);
  Json returns = json_of(returned);
  Json recorded = Recorder::current().trace();
  for (const auto& member : *recorded.as<Object>()) trace.push_back(member);
  trace.emplace_back("arguments", std::move(arguments));
  trace.emplace_back("returns", std::move(returns));
  carry_out(request, trace);
  return trace;
}

void write_line(int descriptor, const Json& json) {
  std::string line = json.text() + "\n";
  for (size_t done = 0; done < line.size();) {
    ssize_t count = write(descriptor, line.data() + done, line.size() - done);
    if (count <= 0) _exit(3);
    done += static_cast<size_t>(count);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::ifstream file(arguments[1]);
  // "-" stands for a pipe, on which each request waits for the answer to the one before.
  std::istream& requests = std::strcmp(arguments[1], "-") == 0 ? std::cin : file;
  int descriptor = std::atoi(arguments[2]);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  Recorder::current().begin(Object());
  Ending binding = ending_of(bind_modules);
  if (binding.outcome == "error") binding.what = "binding";
  for (std::string line; std::getline(requests, line);) {
    Json request = Json::parse(line);
    if (request.at("entry").is_null() && binding.outcome == "captured") write_line(descriptor, entry_list());
    else write_line(descriptor, answer(request, binding));
  }
  // Destructors of the host code's statics need not run.
  std::fflush(nullptr);
  _exit(0);
}
