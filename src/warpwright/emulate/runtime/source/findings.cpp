#include "findings.h"

namespace warpwright::emulated {
namespace {

const char* name_of(Severity severity) {
  return severity == Severity::FATAL ? "fatal" : severity == Severity::LIKELY ? "likely" : "tolerated";
}
const char* name_of(Space space) {
  return space == Space::GLOBAL ? "global" : space == Space::SHARED ? "shared" : "device";
}

Json json_of(const Party& party) {
  return Object{{"code", party.site},
                {"block", party.block ? triple(*party.block) : Json()},
                {"thread", party.thread ? triple(*party.thread) : Json()},
                {"access", party.access}};
}

Json json_of(const Memory& memory) {
  return Object{{"space", name_of(memory.space)},
                {"buffer", memory.buffer >= 0 ? Json(memory.buffer) : Json()},
                {"name", memory.name.empty() ? Json() : Json(memory.name)},
                {"offset", memory.offset},
                {"bytes", static_cast<uint64_t>(memory.bytes)}};
}

Json json_of(const Finding& finding) {
  return Object{{"kind", finding.kind},
                {"severity", name_of(finding.severity)},
                {"kernel", finding.kernel},
                {"launch", finding.launch},
                {"code", finding.site},
                {"file", finding.file.empty() ? Json() : Json(finding.file)},
                {"line", finding.line ? Json(finding.line) : Json()},
                {"block", triple(finding.block)},
                {"thread", triple(finding.thread)},
                {"message", finding.message},
                {"count", finding.count},
                {"other", finding.other ? json_of(*finding.other) : Json()},
                {"memory", finding.memory ? json_of(*finding.memory) : Json()}};
}

}  // namespace

Json triple(const uint3& value) { return Array{value.x, value.y, value.z}; }
Json triple(const dim3& value) { return Array{value.x, value.y, value.z}; }

bool Findings::known(const char* kind, uint32_t site, uint32_t other, Severity severity) {
  auto found = places_.find({kind, site, other, 0});
  if (found == places_.end() || list_[found->second].severity < severity) return false;
  ++list_[found->second].count;
  return true;
}

Finding& Findings::add(Finding finding) {
  Place place{finding.kind, finding.site, finding.other ? finding.other->site : 0, finding.line};
  auto [found, is_new] = places_.emplace(place, list_.size());
  if (is_new)
    list_.push_back(std::move(finding));
  else if (list_[found->second].severity < finding.severity) {
    // Shows the gravest finding of a place.
    finding.count = list_[found->second].count;
    list_[found->second] = std::move(finding);
  }
  Finding& kept = list_[found->second];
  ++kept.count;
  return kept;
}

Json Findings::json() const {
  Array list;
  for (const Finding& finding : list_) list.push_back(json_of(finding));
  return list;
}

}  // namespace warpwright::emulated
