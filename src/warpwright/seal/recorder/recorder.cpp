#include "recorder.h"

extern "C" const char __ehdr_start;

namespace warpwright {
namespace {

constexpr uint64_t ALIGNMENT = 512;
constexpr uintptr_t STREAMS = 0x57000000;
const char* const RETAINED = "retained";
constexpr uint64_t DEFAULT_BASE = 0x7f0000000000, DEFAULT_GAP = 1 << 21;

std::optional<Configuration> pending;
Array pending_arguments;

Json triple(const dim3& d) { return Array{d.x, d.y, d.z}; }

}  // namespace

Recorder& Recorder::current() {
  static Recorder* recorder = new Recorder;  // outlives the statics of the host code, whose destructors release buffers
  return *recorder;
}

void Recorder::begin(const Json& request) {
  ++epoch_;
  past_.insert(past_.end(), buffers_.begin(), buffers_.end());
  buffers_.clear();
  nodes_.clear();
  attributes_.clear();
  queries_.clear();
  streams_ = 0;
  refusal_.reset();
  pending.reset();
  const Json* scratch = request.find("scratch");
  next_ = scratch ? static_cast<uint64_t>(scratch->at("base").whole()) : DEFAULT_BASE;
  gap_ = scratch ? static_cast<uint64_t>(scratch->at("gap").whole()) : DEFAULT_GAP;
  kernels_ = request.find("kernels") ? request.at("kernels") : Json(Array());
  if (const Json* given = request.find("buffers"))
    for (const Json& buffer : given->array())
      buffers_.push_back({static_cast<uint64_t>(buffer.at("base").whole()),
                          static_cast<uint64_t>(buffer.at("bytes").whole()), "argument", nullptr, 0, std::nullopt});
}

int Recorder::allocate(uint64_t bytes, const char* origin, const void* symbol) {
  next_ = (next_ + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  buffers_.push_back({next_, bytes, origin, symbol, nodes_.size(), std::nullopt});
  next_ += bytes + gap_;
  return static_cast<int>(buffers_.size()) - 1;
}

int Recorder::symbol(const void* address, uint64_t bytes) {
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i].symbol == address) return static_cast<int>(i);
  return allocate(bytes, "symbol", address);
}

int Recorder::retain(uint64_t base, uint64_t bytes) {
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i].base == base && buffers_[i].origin == RETAINED) return static_cast<int>(i);
  buffers_.push_back({base, bytes, RETAINED, nullptr, nodes_.size(), std::nullopt});
  return static_cast<int>(buffers_.size()) - 1;
}

void Recorder::release(int buffer) {
  if (!buffers_[buffer].freed) buffers_[buffer].freed = nodes_.size();
}

std::optional<Place> Recorder::locate(const void* address) {
  uint64_t at = reinterpret_cast<uint64_t>(address);
  auto holds = [at](const Buffer& b) { return at >= b.base && at <= b.base + b.bytes; };
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (holds(buffers_[i])) return Place{static_cast<int>(i), static_cast<int64_t>(at - buffers_[i].base)};
  for (const Buffer& b : past_)
    if (holds(b)) return Place{retain(b.base, b.bytes), static_cast<int64_t>(at - b.base)};
  return std::nullopt;
}

const Json* Recorder::kernel_facts(const void* code) const {
  for (const Json& kernel : kernels_.array())
    if (kernel.at("code").whole() == code_of(code)) return &kernel;
  return nullptr;
}

void Recorder::add_attribute(const void* code, const char* name, int64_t value) {
  attributes_.push_back(Object{{"code", code_of(code)}, {"name", name}, {"value", value}, {"node", nodes_.size()}});
}

void Recorder::add_query(const char* name, const void* code, int block, size_t shared, bool known) {
  queries_.push_back(
      Object{{"name", name}, {"code", code_of(code)}, {"block", block}, {"shared", shared}, {"known", known}});
}

void Recorder::refuse(Outcome outcome) {
  if (!refusal_) refusal_ = outcome;
  throw outcome;
}

cudaStream_t Recorder::new_stream() { return reinterpret_cast<cudaStream_t>(STREAMS + ++streams_); }

Json Recorder::trace() const {
  Array buffers;
  for (const Buffer& b : buffers_)
    buffers.push_back(Object{{"base", b.base},
                             {"bytes", b.bytes},
                             {"origin", b.origin},
                             {"symbol", b.symbol ? Json(code_of(b.symbol)) : Json()},
                             {"born", b.born},
                             {"freed", b.freed ? Json(*b.freed) : Json()}});
  return Object{{"buffers", buffers}, {"nodes", nodes_}, {"attributes", attributes_}, {"queries", queries_}};
}

int64_t code_of(const void* address) { return static_cast<const char*>(address) - &__ehdr_start; }

std::string hex(const void* data, size_t bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes);
  for (size_t i = 0; i < bytes; ++i) {
    unsigned char byte = static_cast<const unsigned char*>(data)[i];
    (text += digits[byte >> 4]) += digits[byte & 15];
  }
  return text;
}

int64_t stream_number(cudaStream_t stream) {
  uintptr_t handle = reinterpret_cast<uintptr_t>(stream);
  return handle > STREAMS ? static_cast<int64_t>(handle - STREAMS) : 0;
}

void unsupported(const char* name) {
  Recorder::current().refuse({"unsupported", name, std::string("not covered by the headers: ") + name});
}
void reads_device_data(const char* call) {
  Recorder::current().refuse({"reads_device_data", call, std::string("the host code reads device data: ") + call});
}
void cuda_failed(const char* call, const char* message) {
  throw Outcome("error", "cuda", std::string(message) + " in " + call);
}

void configure(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  Configuration configuration;
  configuration.grid = grid;
  configuration.block = block;
  configuration.shared = shared;
  configuration.stream = stream;
  configure(configuration);
}
void configure(const Configuration& configuration) { pending = configuration; }

__attribute__((noinline)) const void* here() { return __builtin_return_address(0); }

void begin_launch() {
  if (!pending) throw Outcome("error", "cuda", "a kernel was called like a function, without a launch configuration");
  pending_arguments.clear();
}
const void* packed_argument(size_t position) { return pending->packed ? pending->packed[position] : nullptr; }
void add_argument(const void* bytes, size_t size) { pending_arguments.push_back(hex(bytes, size)); }

void end_launch(const void* code) {
  Object attributes;
  for (const auto& [name, value] : pending->attributes) attributes.emplace_back(name, value);
  Recorder::current().add({{"op", "launch"},
                           {"code", code_of(code)},
                           {"grid", triple(pending->grid)},
                           {"block", triple(pending->block)},
                           {"cluster", triple(pending->cluster)},
                           {"shared", pending->shared},
                           {"cooperative", pending->cooperative},
                           {"attributes", attributes},
                           {"stream", stream_number(pending->stream)},
                           {"arguments", pending_arguments}});
  pending.reset();
}

}  // namespace warpwright
