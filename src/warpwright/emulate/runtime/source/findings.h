// Findings of the checker, once for each place in the code, with a count.
#ifndef WARPWRIGHT_EMULATE_FINDINGS_H
#define WARPWRIGHT_EMULATE_FINDINGS_H

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "../../../seal/recorder/json.h"
#include "shadow.h"
#include "vector_types.h"

namespace warpwright::emulated {

enum class Severity : uint8_t { TOLERATED, LIKELY, FATAL };

struct Party {
  uint32_t site = 0;
  std::optional<uint3> block, thread;
  const char* access = "read";
};

struct Memory {
  Space space = Space::GLOBAL;
  int buffer = -1;
  std::string name;
  int64_t offset = 0;
  size_t bytes = 0;
};

struct Finding {
  const char* kind = "";
  Severity severity = Severity::FATAL;
  uint32_t site = 0;
  std::string message;
  std::string file;
  uint32_t line = 0;
  std::optional<Party> other;
  std::optional<Memory> memory;
  // Filled in by the machine.
  std::string kernel;
  int launch = -1;
  uint3 block{}, thread{};
  uint64_t count = 0;
};

class Findings {
 public:
  // The finding to be counted on, which is new or was made at the same place before.
  Finding& add(Finding finding);
  // Whether there is one already that is at least as bad; then it is counted.
  bool known(const char* kind, uint32_t site, uint32_t other, Severity severity);
  void clear() { places_.clear(), list_.clear(); }
  Json json() const;
  bool empty() const { return list_.empty(); }

 private:
  using Place = std::tuple<std::string, uint32_t, uint32_t, uint32_t>;
  std::map<Place, size_t> places_;
  std::vector<Finding> list_;
};

Json triple(const uint3& value);
Json triple(const dim3& value);

}  // namespace warpwright::emulated

#endif
