// Results of a call: unwritten outputs, contents, and whether a sample of blocks is representative.
#include <fstream>

#include "carrying.h"

namespace warpwright::emulated {

void Carrying::check_outputs(const Json& value) {
  for (const auto& [kind, content] : *value.as<Object>()) {
    if (kind == "tensor" && content.find("buffer")) check_output(content);
    if (kind == "list" || kind == "tuple")
      for (const Json& item : content.array()) check_outputs(item);
  }
}

void Carrying::check_output(const Json& json) {
  View view(json, region(json.at("buffer").whole()));
  uint64_t unwritten = 0, count = 0;
  uintptr_t first = 0;
  view.each([&](uintptr_t address) {
    ++count;
    if (view.region->cell(address).write) return;
    if (!unwritten++) first = address;
  });
  owes_ = owes_.value_or(false) || count > 0;
  if (!unwritten || machine_.sampled) return;
  Finding finding;
  finding.kind = "unwritten";
  finding.severity = Severity::FATAL;
  finding.message =
      std::to_string(unwritten) + " of " + std::to_string(count) + " elements of a returned tensor are never written";
  Memory memory;
  memory.buffer = view.region->buffer;
  memory.offset = static_cast<int64_t>(first - view.region->base);
  memory.bytes = view.element_bytes;
  finding.memory = memory;
  machine_.findings.add(std::move(finding)).count = unwritten;
}

void Carrying::mark_returned(const Json& value, std::vector<bool>& wanted) {
  for (const auto& [kind, content] : *value.as<Object>()) {
    if (kind == "tensor" && content.find("buffer")) {
      const auto buffer = static_cast<size_t>(content.at("buffer").whole());
      wanted.at(buffer) = true;
      dtypes_.at(buffer) = content.at("dtype").string();
    }
    if (kind == "list" || kind == "tuple")
      for (const Json& item : content.array()) mark_returned(item, wanted);
  }
}

Array Carrying::contents() {
  const Json* emulation = request_.find("emulation");
  const Json* file = emulation ? emulation->find("outputs") : nullptr;
  if (!file || file->is_null()) return {};
  std::vector<bool> wanted(regions_.size());
  for (size_t i = 0; request_.find("buffers") && i < request_.at("buffers").array().size(); ++i) wanted[i] = true;
  mark_returned(member("returns"), wanted);
  std::ofstream out(file->string(), std::ios::binary);
  Array list;
  int64_t at = 0;
  for (size_t i = 0; i < regions_.size(); ++i) {
    if (!wanted[i]) continue;
    const Region& memory = *regions_[i];
    out.write(reinterpret_cast<const char*>(memory.base), static_cast<std::streamsize>(memory.bytes));
    Object entry{{"buffer", static_cast<uint64_t>(i)}, {"at", at}, {"bytes", static_cast<uint64_t>(memory.bytes)}};
    at += static_cast<int64_t>(memory.bytes);
    entry.emplace_back("written", machine_.sampled ? Json(at) : Json());
    if (machine_.sampled)
      for (uintptr_t a = memory.base; a < memory.base + memory.bytes; ++a, ++at)
        out.put(const_cast<Region&>(memory).cell(a).write ? 1 : 0);
    if (write_numbers && !dtypes_[i].empty()) {
      const int64_t count = write_numbers(out, reinterpret_cast<const void*>(memory.base), memory.bytes, dtypes_[i]);
      entry.emplace_back("numbers", Object{{"at", at}, {"count", count}});
      at = static_cast<int64_t>(out.tellp());
    }
    list.push_back(std::move(entry));
  }
  return list;
}

// The reason why skipped blocks may affect those that ran.
Json Carrying::sampling() const {
  const Counters& counted = machine_.counters;
  uint64_t atomics = 0;
  for (const auto& space : {Space::GLOBAL, Space::DEVICE})
    atomics += counted.accesses[static_cast<int>(space)][static_cast<int>(Traffic::ATOMIC)];
  if (next_launch_ > 1) return "a later launch may read what blocks that were left out would have written";
  if (atomics) return "blocks that were left out may have taken part in atomic operations on memory of the device";
  if (machine_.blocks_waited()) return "blocks wait for each other";
  return Json();
}

}  // namespace warpwright::emulated
