#include "binding.h"

#include "warpwright/recorded.h"

namespace warpwright {
namespace {

// Registration happens before main, in unspecified order, so the lists are created on first use.

struct PendingLibrary {
  void (*bind)(torch::Library&);
  const char* name;
  const char* key;
};
struct PendingModule {
  const char* prefix;
  void (*bind)(pybind11::module_&);
};
std::vector<PendingModule>& modules() {
  static std::vector<PendingModule> list;
  return list;
}
std::vector<PendingLibrary>& libraries() {
  static std::vector<PendingLibrary> list;
  return list;
}
std::map<std::string, std::vector<Parameter>>& schemas() {
  static std::map<std::string, std::vector<Parameter>> map;
  return map;
}

std::string qualified(const Entry& entry) {
  return entry.library.empty() ? entry.name : entry.library + "::" + entry.name;
}

std::string required_count(const Entry& entry) {
  size_t most = entry.parameters.size(), least = 0;
  for (const Parameter& parameter : entry.parameters) least += !parameter.fallback;
  std::string count =
      least == most ? std::to_string(most) : "from " + std::to_string(least) + " to " + std::to_string(most);
  return count + (most == 1 ? " argument" : " arguments");
}

[[noreturn]] void wrong_arguments(const Entry& entry, const std::string& rest) {
  throw Outcome("error", "arguments", entry.name + " " + rest);
}

// Schema and function of a library entry arrive in either order.
void apply_schema(Entry& entry) {
  auto found = schemas().find(qualified(entry));
  if (found == schemas().end()) return;
  for (size_t i = 0; i < entry.parameters.size() && i < found->second.size(); ++i) {
    entry.parameters[i].name = found->second[i].name;
    entry.parameters[i].fallback = found->second[i].fallback;
  }
}

}  // namespace

std::vector<Entry>& entries() {
  static std::vector<Entry> list;
  return list;
}

ModuleBinding::ModuleBinding(void (*bind)(pybind11::module_&)) { modules().push_back({"", bind}); }
ExtensionBinding::ExtensionBinding(const char* prefix, void (*bind)(pybind11::module_&)) {
  modules().push_back({prefix, bind});
}
LibraryBinding::LibraryBinding(void (*bind)(torch::Library&), const char* name, const char* key) {
  libraries().push_back({bind, name, key});
}

void bind_modules() {
  for (const PendingModule& pending : modules()) {
    pybind11::module_ module;
    const size_t first = entries().size();
    pending.bind(module);
    for (size_t i = first; i < entries().size(); ++i) entries()[i].name = pending.prefix + entries()[i].name;
  }
  for (const PendingLibrary& pending : libraries()) {
    torch::Library library(pending.name, pending.key);
    pending.bind(library);
  }
  for (Entry& entry : entries())
    if (!entry.library.empty()) apply_schema(entry);
}

const Entry& find_entry(const std::string& name) {
  for (const Entry& entry : entries())
    if (entry.name == name || qualified(entry) == name) return entry;
  std::string known;
  for (const Entry& entry : entries()) known += (known.empty() ? "" : ", ") + qualified(entry);
  throw Outcome("error", "entry",
                "no entry point named " + name + (known.empty() ? "; nothing is bound" : "; bound: " + known));
}

Value call_entry(const Entry& entry, const Values& positional,
                 const std::vector<std::pair<std::string, Value>>& keywords) {
  const auto& parameters = entry.parameters;
  if (positional.size() > parameters.size())
    wrong_arguments(entry, "takes " + required_count(entry) + ", the task gives " +
                               std::to_string(positional.size() + keywords.size()));
  std::vector<std::optional<Value>> given(positional.begin(), positional.end());
  given.resize(parameters.size());
  for (const auto& [name, value] : keywords) {
    size_t i = 0;
    while (i < parameters.size() && parameters[i].name != name) ++i;
    if (i == parameters.size()) wrong_arguments(entry, "has no parameter named " + name);
    if (given[i]) wrong_arguments(entry, "got two values for " + name);
    given[i] = value;
  }
  Values arguments;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!given[i]) given[i] = parameters[i].fallback;
    if (!given[i])
      wrong_arguments(entry, "takes " + required_count(entry) + ", the task gives " +
                                 std::to_string(positional.size() + keywords.size()));
    arguments.push_back(*given[i]);
  }
  try {
    return entry.callable.call(entry.callable.function, arguments.data());
  } catch (const Mismatch& mismatch) {
    size_t position = static_cast<size_t>(noted_last() - arguments.data());
    if (position >= arguments.size()) throw;  // a cast in the function's own body
    std::string kind = kind_of(arguments[position]), wanted = parameters[position].type;
    wrong_arguments(entry, "argument " + std::to_string(position + 1) + " must be " +
                               (kind == wanted ? mismatch.wanted : wanted) + ", not this " + kind);
  }
}

}  // namespace warpwright

namespace torch {

using namespace warpwright;

Library::Library(const char* name, const char* key) : name_(name), key_(key) {}

Library& Library::def(const char* schema) {
  schemas()[std::string(name_) + "::" + schema_name(schema)] = schema_parameters(schema);
  return *this;
}

Library& Library::def(const char* schema, CppFunction function) {
  if (std::strchr(schema, '(')) def(schema);
  return impl(schema_name(schema).c_str(), std::move(function));
}

Library& Library::impl(const char* name, CppFunction function) {
  bool elsewhere = std::string(key_) == "CPU" || std::string(key_) == "Meta" || std::strstr(key_, "Autograd") == key_;
  if (elsewhere || !function.on_device()) return *this;
  Entry entry = entry_of(schema_name(name), function.callable());
  entry.library = name_;
  entries().push_back(std::move(entry));
  return *this;
}

}  // namespace torch
