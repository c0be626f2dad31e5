// Executes the record of a call: allocates memory, runs the nodes in order, and reports the results.
#include <cstring>
#include <stdexcept>

#include "carrying.h"
#include "faults.h"
#include "../../../seal/recorder/recorder.h"

namespace warpwright {
namespace emulated {
namespace {

Settings settings_of(const Json& request) {
  Settings settings;
  const Json* given = request.find("emulation");
  if (!given) return settings;
  if (const Json* order = given->find("order"))
    settings.order = order->string() == "reverse"    ? Settings::Order::REVERSE
                     : order->string() == "shuffled" ? Settings::Order::SHUFFLED
                                                     : Settings::Order::FORWARD;
  if (const Json* seed = given->find("seed")) settings.seed = static_cast<uint64_t>(seed->whole());
  if (const Json* counters = given->find("counters")) settings.counters = *counters->as<bool>();
  if (const Json* steps = given->find("steps")) settings.steps = steps->whole();
  if (const Json* arena = given->find("arena")) settings.arena = static_cast<uintptr_t>(arena->whole());
  if (const Json* blocks = given->find("blocks"); blocks && !blocks->is_null())
    settings.blocks = static_cast<uint64_t>(blocks->whole());
  return settings;
}

}  // namespace

const Json& Carrying::member(const char* name) const {
  for (const auto& [key, value] : trace_)
    if (key == name) return value;
  throw std::runtime_error(std::string("the trace has no ") + name);
}

void Carrying::carry_out(const Json& node) {
  const std::string& operation = node.at("op").string();
  auto whole = [&](const char* name) { return node.at(name).whole(); };
  if (operation == "launch") return launch(node);
  worked_ = true;
  if (operation == "memset") {
    std::memset(bytes_at(whole("buffer"), whole("offset"), whole("bytes")), static_cast<int>(whole("value")),
                static_cast<size_t>(whole("bytes")));
    written(whole("buffer"), whole("offset"), whole("bytes"));
  } else if (operation == "upload") {
    upload(node);
  } else if (operation == "copy") {
    std::memmove(bytes_at(whole("target"), whole("target_offset"), whole("bytes")),
                 bytes_at(whole("source"), whole("source_offset"), whole("bytes")),
                 static_cast<size_t>(whole("bytes")));
    written(whole("target"), whole("target_offset"), whole("bytes"));
  } else if (operation == "fill") {
    fill(view(node.at("target")), node.at("value"));
  } else {
    library(node);
  }
}

void Carrying::carry_out() {
  for (const Json& node : member("nodes").array()) {
    carry_out(node);
    if (machine_.ended()) return;
    free_until(++node_);
  }
}

Json Carrying::report() {
  const std::string& outcome = member("outcome").string();
  Array outputs;
  try {
    machine_.begin(settings_of(request_));
    if (outcome == "captured") {
      make_memory();
      carry_out();
      if (!machine_.ended()) check_outputs(member("returns"));
      if (awaited_.is_null()) outputs = contents();
    } else {
      machine_.ending = {"skipped", outcome};
    }
  } catch (const Taken&) {
    machine_.ending = {"taken", "the addresses of the arena"};
  } catch (const Outcome& problem) {
    machine_.ending = {"unsupported", problem.subject};
  } catch (const std::exception& problem) {
    machine_.ending = {"unsupported", problem.what()};
  }
  if (!machine_.ended() && !worked_ && next_launch_ == 0 && owes_.value_or(true)) {
    Finding finding;
    finding.kind = "no-device-work";
    finding.message = "the host code returns without any work of the device";
    machine_.findings.add(std::move(finding));
  }
  return Object{{"outcome", machine_.ended() ? machine_.ending.outcome : "ran"},
                {"what", machine_.ending.what},
                {"findings", machine_.findings.json()},
                {"launches", launches_},
                {"counters", machine_.counters.totals(machine_.settings.counters)},
                {"lines", machine_.settings.counters ? machine_.counters.lines() : Array()},
                {"contents", outputs},
                {"awaits", awaited_},
                {"sampled", machine_.sampled},
                {"sampling", machine_.sampled ? sampling() : Json()}};
}

}  // namespace emulated

// Called by the driver of the seal room when a call has been recorded.
void carry_out(const Json& request, Object& trace) {
  emulated::catch_faults();
  trace.emplace_back("emulation", emulated::Carrying(request, trace).report());
  emulated::attached.clear();
}

}  // namespace warpwright
