// The state of one capture: buffers with fake addresses, nodes in order, and the questions the host code asked.
#ifndef WARPWRIGHT_RECORDER_RECORDER_H
#define WARPWRIGHT_RECORDER_RECORDER_H

#include "json.h"
#include "warpwright/capture.h"

namespace warpwright {

// The outcome of a capture that does not return normally.
struct Outcome : std::exception {
  Outcome(std::string kind, std::string what, std::string message)
      : kind(std::move(kind)), subject(std::move(what)), message(std::move(message)) {}
  const char* what() const noexcept override { return message.c_str(); }
  std::string kind, subject, message;
};

struct Buffer {
  uint64_t base = 0;
  uint64_t bytes = 0;
  const char* origin = "scratch";
  const void* symbol = nullptr;
  size_t born = 0;
  std::optional<size_t> freed;
};

struct Place {
  int buffer;
  int64_t offset;
};

class Recorder {
 public:
  static Recorder& current();

  void begin(const Json& request);
  Json trace() const;
  uint64_t epoch() const { return epoch_; }
  const Json* kernel_facts(const void* code) const;

  int allocate(uint64_t bytes, const char* origin = "scratch", const void* symbol = nullptr);
  int symbol(const void* address, uint64_t bytes);
  // Memory that the host code retained from an earlier request: recorded, because no plan may depend on it.
  int retain(uint64_t base, uint64_t bytes);
  void release(int buffer);
  const Buffer& buffer(int id) const { return buffers_[id]; }
  std::optional<Place> locate(const void* address);

  // Host code may catch our exception and take another path; a plan of that path would hide the attempt.
  [[noreturn]] void refuse(Outcome outcome);
  const std::optional<Outcome>& refusal() const { return refusal_; }

  void add(Object node) { nodes_.push_back(std::move(node)); }
  void add_attribute(const void* code, const char* name, int64_t value);
  void add_query(const char* name, const void* code, int block, size_t shared, bool known);
  cudaStream_t new_stream();

 private:
  uint64_t epoch_ = 0;
  uint64_t next_ = 0, gap_ = 0;
  int64_t streams_ = 0;
  std::vector<Buffer> buffers_, past_;
  Array nodes_, attributes_, queries_;
  Json kernels_;
  std::optional<Outcome> refusal_;
};

// The address relative to the program file, for lookups in its symbol table.
int64_t code_of(const void* address);
std::string hex(const void* data, size_t bytes);
int64_t stream_number(cudaStream_t stream);

}  // namespace warpwright

#endif
