// The record of a call, carried out: memory is made real, nodes run in their order, and what came of it is reported.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "faults.h"
#include "library.h"
#include "machine.h"
#include "../../../seal/recorder/recorder.h"

extern "C" {
extern char __start_warpwright_device __attribute__((weak));
extern char __stop_warpwright_device __attribute__((weak));
extern const char __ehdr_start;
extern const char _end;
}

namespace warpwright {
namespace emulated {
namespace {

std::vector<Launch> attached;
dim3 declared_clusters;  // of the kernel that is being enqueued

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

// One call in the course of being carried out.
class Carrying {
 public:
  Carrying(const Json& request, const Object& trace) : request_(request), trace_(trace), machine_(Machine::current()) {}
  Json report();

 private:
  const Json& member(const char* name) const;
  void make_memory();
  void load(const Json& buffer, Region& region);
  void carry_out();
  void carry_out(const Json& node);
  void launch(const Json& node);
  Object since(const Object& before) const;
  void refuse(const Launch& wanted, const char* why);
  bool fits_clusters(const Launch& wanted) const;
  void library(const Json& node);
  bool given_by_torch(const Json& node);
  void ask_torch(const Json& node);
  void free_until(int64_t node);
  bool may_share(const Json& node) const;
  void symbols_in();
  void symbols_out();
  Region& region(int64_t buffer) { return *regions_.at(static_cast<size_t>(buffer)); }
  View view(const Json& of) { return View(of, region(of.at("buffer").whole())); }
  unsigned char* bytes_at(int64_t buffer, int64_t offset, int64_t bytes);
  void written(int64_t buffer, int64_t offset, int64_t bytes);
  void check_outputs(const Json& value);
  void check_output(const Json& view);
  Array contents();
  Json sampling() const;
  void mark_returned(const Json& value, std::vector<bool>& wanted) const;

  const Json& request_;
  const Object& trace_;
  Machine& machine_;
  std::vector<Region*> regions_;
  std::vector<std::vector<unsigned char>> symbol_images_;
  size_t next_launch_ = 0;
  int64_t node_ = 0;
  Json awaited_;
  Array launches_;
  bool worked_ = false;
};

const Json& Carrying::member(const char* name) const {
  for (const auto& [key, value] : trace_)
    if (key == name) return value;
  throw std::runtime_error(std::string("the trace has no ") + name);
}

void Carrying::make_memory() {
  const Array* given = request_.find("buffers") ? &request_.at("buffers").array() : nullptr;
  const Array& buffers = member("buffers").array();
  for (size_t i = 0; i < buffers.size(); ++i) {
    const uintptr_t base = static_cast<uintptr_t>(buffers[i].at("base").whole());
    if (base - arena_at >= shared_area() - arena_at) throw std::runtime_error("a buffer lies outside the arena");
    Region& made = machine_.arena.add(base, static_cast<size_t>(buffers[i].at("bytes").whole()), Space::GLOBAL,
                                      static_cast<int>(i));
    regions_.push_back(&made);
    if (given && i < given->size()) load((*given)[i], made);
  }
  const uintptr_t start = reinterpret_cast<uintptr_t>(&__start_warpwright_device);
  hot.image = start ? 0 : reinterpret_cast<uintptr_t>(&__ehdr_start);
  hot.image_bytes = start ? 0 : static_cast<uintptr_t>(&_end - &__ehdr_start);
  if (!start) return;
  Region& variables =
      machine_.arena.add(start, reinterpret_cast<uintptr_t>(&__stop_warpwright_device) - start, Space::DEVICE, -1);
  variables.mark(variables.base, variables.bytes, BY_HOST);
}

void Carrying::load(const Json& buffer, Region& into) {
  const Json* data = buffer.find("data");
  if (!data || data->is_null()) return;
  const int64_t at = buffer.find("at") ? buffer.at("at").whole() : 0;
  const int file = open(data->string().c_str(), O_RDONLY | O_CLOEXEC);
  for (size_t done = 0; done < into.bytes;) {
    const ssize_t count =
        pread(file, reinterpret_cast<char*>(into.base) + done, into.bytes - done, at + static_cast<off_t>(done));
    if (count <= 0) throw std::runtime_error("the file of inputs is too short");
    done += static_cast<size_t>(count);
  }
  close(file);
  into.mark(into.base, into.bytes, BY_HOST);
}

unsigned char* Carrying::bytes_at(int64_t buffer, int64_t offset, int64_t bytes) {
  Region& memory = region(buffer);
  if (offset < 0 || bytes < 0 || static_cast<uint64_t>(offset + bytes) > memory.bytes)
    throw std::runtime_error("a copy or fill beyond its buffer");
  return reinterpret_cast<unsigned char*>(memory.base) + offset;
}

void Carrying::written(int64_t buffer, int64_t offset, int64_t bytes) {
  Region& memory = region(buffer);
  // Parts of a word must not count for all of it.
  if (memory.shift && (memory.base + static_cast<uintptr_t>(offset) | static_cast<uintptr_t>(bytes)) & 3)
    memory.refine(0);
  memory.mark(memory.base + static_cast<uintptr_t>(offset), static_cast<size_t>(bytes), BY_HOST);
}

void Carrying::free_until(int64_t node) {
  const Array& buffers = member("buffers").array();
  for (size_t i = 0; i < buffers.size(); ++i)
    if (const Json& freed = buffers[i].at("freed"); !freed.is_null() && freed.whole() <= node)
      regions_[i]->live = false;
}

// A variable whose address the host code asked for lives twice: in the program and in a buffer. They are kept alike.
void Carrying::symbols_in() {
  const Array& buffers = member("buffers").array();
  symbol_images_.assign(buffers.size(), {});
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].at("symbol").is_null()) continue;
    const char* variable = &__ehdr_start + buffers[i].at("symbol").whole();
    std::memcpy(reinterpret_cast<void*>(regions_[i]->base), variable, regions_[i]->bytes);
    regions_[i]->mark(regions_[i]->base, regions_[i]->bytes, BY_HOST);
    symbol_images_[i].assign(variable, variable + regions_[i]->bytes);
  }
}

void Carrying::symbols_out() {
  const Array& buffers = member("buffers").array();
  for (size_t i = 0; i < symbol_images_.size(); ++i) {
    if (symbol_images_[i].empty()) continue;
    const void* memory = reinterpret_cast<void*>(regions_[i]->base);
    char* variable = const_cast<char*>(&__ehdr_start) + buffers[i].at("symbol").whole();
    if (std::memcmp(memory, symbol_images_[i].data(), regions_[i]->bytes) != 0)
      std::memcpy(variable, memory, regions_[i]->bytes);
  }
}

// More than the usual 48 KiB must have been asked for. The attribute of a kernel is kept by its first address.
bool Carrying::may_share(const Json& node) const {
  constexpr int64_t WITHOUT_ASKING = 48 << 10;
  const int64_t wanted = node.at("shared").whole(), code = node.at("code").whole();
  if (wanted <= WITHOUT_ASKING) return true;
  int64_t nearest = -1, granted = 0;
  for (const Json& attribute : member("attributes").array())
    if (attribute.at("name").string() == "max_dynamic_shared" && attribute.at("code").whole() <= code &&
        attribute.at("code").whole() >= nearest)
      nearest = attribute.at("code").whole(), granted = attribute.at("value").whole();
  return wanted <= granted;
}

// Eight blocks fit on every GPU that has clusters; sixteen must be asked for.
bool Carrying::fits_clusters(const Launch& wanted) const {
  const dim3 &size = wanted.cluster, &grid = wanted.grid;
  uint64_t most = 8;
  for (const Json& attribute : member("attributes").array())
    if (attribute.at("name").string() == "non_portable_cluster" && attribute.at("value").whole()) most = 16;
  const uint64_t blocks = static_cast<uint64_t>(size.x) * size.y * size.z;
  return blocks && blocks <= most && grid.x % size.x == 0 && grid.y % size.y == 0 && grid.z % size.z == 0;
}

void Carrying::refuse(const Launch& wanted, const char* why) {
  Finding finding;
  finding.kind = "launch";
  finding.kernel = wanted.kernel;
  finding.launch = wanted.number;
  finding.message = why;
  machine_.findings.add(std::move(finding));
}

void Carrying::launch(const Json& node) {
  Launch& wanted = attached.at(next_launch_);
  wanted.number = static_cast<int>(next_launch_++);
  auto extent = [&](const char* name) {
    std::vector<int64_t> d = node.at(name).wholes();
    return dim3(static_cast<unsigned>(d[0]), static_cast<unsigned>(d[1]), static_cast<unsigned>(d[2]));
  };
  const dim3 cluster = extent("cluster");
  if (cluster.x * cluster.y * cluster.z > 1) wanted.cluster = cluster;
  wanted.grid = extent("grid");
  wanted.block = extent("block");
  wanted.dynamic_shared = static_cast<size_t>(node.at("shared").whole());
  wanted.cooperative = *node.at("cooperative").as<bool>();
  if (!may_share(node))
    return refuse(wanted, "more than 48 KiB of dynamic shared memory without cudaFuncSetAttribute: the launch fails");
  if (!fits_clusters(wanted)) return refuse(wanted, "clusters that the grid is no multiple of, or that are too large");
  const Object before = machine_.counters.totals(machine_.settings.counters);
  const uint64_t blocks = machine_.counters.blocks, threads = machine_.counters.threads;
  const int64_t steps = hot.steps_left;
  symbols_in();
  machine_.run(wanted);
  symbols_out();
  launches_.push_back(Object{{"kernel", wanted.kernel},
                             {"code", node.at("code")},
                             {"grid", node.at("grid")},
                             {"block", node.at("block")},
                             {"shared", node.at("shared")},
                             {"static_shared", machine_.static_shared()},
                             {"blocks", machine_.counters.blocks - blocks},
                             {"threads", machine_.counters.threads - threads},
                             {"steps", steps - hot.steps_left},
                             {"counters", since(before)}});
}

// What this launch has added.
Object Carrying::since(const Object& before) const {
  Object added = machine_.counters.totals(machine_.settings.counters);
  for (size_t i = 0; i < added.size(); ++i) added[i].second = added[i].second.whole() - before[i].second.whole();
  return added;
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
    const std::string& text = node.at("data").string();
    unsigned char* target = bytes_at(whole("buffer"), whole("offset"), static_cast<int64_t>(text.size() / 2));
    for (size_t i = 0; i < text.size() / 2; ++i)
      target[i] = static_cast<unsigned char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
    written(whole("buffer"), whole("offset"), static_cast<int64_t>(text.size() / 2));
    const Json& symbol = member("buffers").array().at(static_cast<size_t>(whole("buffer"))).at("symbol");
    if (!symbol.is_null())
      std::memcpy(const_cast<char*>(&__ehdr_start) + symbol.whole() + whole("offset"), target, text.size() / 2);
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

// What is no plain loop here is torch's to do: the run ends with its operands, and begins again with the results.
void Carrying::library(const Json& node) {
  if (given_by_torch(node)) return;
  if (!carry_out_library(node, [this](const Json& of) { return view(of); })) ask_torch(node);
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

void Carrying::carry_out() {
  for (const Json& node : member("nodes").array()) {
    carry_out(node);
    if (machine_.ended()) return;
    free_until(++node_);
  }
}

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

void Carrying::mark_returned(const Json& value, std::vector<bool>& wanted) const {
  for (const auto& [kind, content] : *value.as<Object>()) {
    if (kind == "tensor" && content.find("buffer")) wanted.at(static_cast<size_t>(content.at("buffer").whole())) = true;
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
    list.push_back(std::move(entry));
  }
  return list;
}

// Why blocks that were left out may matter to those that ran.
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
  if (!machine_.ended() && !worked_ && next_launch_ == 0) {
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
                {"passes", machine_.counters.passes()},
                {"contents", outputs},
                {"awaits", awaited_},
                {"sampled", machine_.sampled},
                {"sampling", machine_.sampled ? sampling() : Json()}};
}

}  // namespace

void in_clusters(dim3 size) { declared_clusters = size; }

void attach(const char* kernel, Body body, const void* closure, size_t bytes, size_t alignment) {
  if (Machine::current().in_kernel()) unsupported("a kernel launched by a kernel");
  Launch launch;
  launch.kernel = kernel;
  launch.body = body;
  launch.cluster = declared_clusters;
  declared_clusters = dim3();
  launch.closure.resize(bytes + alignment);
  launch.closure_offset = alignment - reinterpret_cast<uintptr_t>(launch.closure.data()) % alignment;
  std::memcpy(launch.closure.data() + launch.closure_offset, closure, bytes);
  attached.push_back(std::move(launch));
}

}  // namespace emulated

// Called by the driver of the seal room when a call has been recorded.
void carry_out(const Json& request, Object& trace) {
  emulated::catch_faults();
  trace.emplace_back("emulation", emulated::Carrying(request, trace).report());
  emulated::attached.clear();
}

}  // namespace warpwright
