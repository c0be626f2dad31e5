// Operations of torch between the kernels of a call.
#include <fstream>
#include <stdexcept>

#include "carrying.h"

namespace warpwright::emulated {

// Other operations are left to torch: the run ends with their operands and starts again with the results.
void Carrying::library(const Json& node) {
  if (given_by_torch(node)) return;
  const std::string& name = node.at("operation").string();
  const auto viewed = [this](const Json& of) { return view(of); };
  if (lifted_copy) {
    if (!carry_out_lifted(node, viewed)) machine_.ending = {"unsupported", "at::" + name + " in lifted numbers"};
    return;
  }
  if (!carry_out_library(node, viewed)) ask_torch(node);
}

bool Carrying::given_by_torch(const Json& node) {
  const Json* emulation = request_.find("emulation");
  const Json* given = emulation ? emulation->find("library") : nullptr;
  if (!given) return false;
  for (const Json& result : given->array()) {
    if (result.at("node").whole() != node_) continue;
    std::ifstream file(result.at("data").string(), std::ios::binary);
    file.seekg(result.at("at").whole());
    for (const Json& output : node.at("outputs").array()) {
      const View target = view(output);
      target.each([&](uintptr_t address) {
        file.read(reinterpret_cast<char*>(address), static_cast<std::streamsize>(target.element_bytes));
        target.written(address);
      });
    }
    if (!file) throw std::runtime_error("the file of library results is too short");
    return true;
  }
  return false;
}

void Carrying::ask_torch(const Json& node) {
  const Json* emulation = request_.find("emulation");
  const Json* file = emulation ? emulation->find("outputs") : nullptr;
  const std::string& name = node.at("operation").string();
  machine_.ending = {file && !file->is_null() ? "library" : "unsupported", "library at::" + name};
  if (machine_.ending.outcome == "unsupported") return;
  std::ofstream out(file->string(), std::ios::binary);
  Array operands;
  int64_t at = 0;
  for (const Json& input : node.at("inputs").array()) {
    if (input.is_null() || !input.find("buffer")) {
      operands.push_back(Json());
      continue;
    }
    const View from = view(input);
    const int64_t start = at;
    from.each([&](uintptr_t address) {
      out.write(reinterpret_cast<const char*>(address), static_cast<std::streamsize>(from.element_bytes));
      at += static_cast<int64_t>(from.element_bytes);
    });
    operands.push_back(Object{{"at", start}, {"bytes", at - start}});
  }
  awaited_ = Object{{"node", node_}, {"operands", operands}};
}

}  // namespace warpwright::emulated
