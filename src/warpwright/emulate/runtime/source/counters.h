// Counters of memory traffic, by request of a warp: lanes that do the same thing for the same time count together.
#ifndef WARPWRIGHT_EMULATE_COUNTERS_H
#define WARPWRIGHT_EMULATE_COUNTERS_H

#include <map>
#include <unordered_map>
#include <vector>

#include "../../../seal/recorder/json.h"
#include "shadow.h"

namespace warpwright::emulated {

enum class Traffic : uint8_t { READ, WRITE, ATOMIC };

// One access of one lane.
struct Touch {
  uintptr_t address;
  uint32_t site;
  uint8_t bytes;
  Space space;
  Traffic traffic;
};

class Counters {
 public:
  struct Line {
    Space space = Space::GLOBAL;
    Traffic traffic = Traffic::READ;
    uint64_t accesses = 0, bytes = 0, requests = 0, sectors = 0, wavefronts = 0, lanes = 0, conflicts = 0;
  };

  // Counted on every access: [space][traffic].
  uint64_t accesses[3][3] = {}, bytes[3][3] = {};
  uint64_t barriers = 0, collectives = 0, threads = 0, blocks = 0, flops = 0;
  uint64_t load_sectors_touched = 0, store_sectors_touched = 0;

  // The traces of a warp's lanes since they last waited, together.
  void add(std::vector<Touch>* const lanes[32]);
  // Sectors that the launch which ends here has touched.
  void add_unique(const Region& region, Stamp launch_floor);
  void clear();
  Object totals(bool with_requests) const;
  Array lines() const;

 private:
  struct Request {
    uint8_t lanes = 0, bytes = 0;
    uintptr_t address[32];
  };
  void count(Line& line, const Request& request);
  std::map<uint32_t, Line> lines_;
  std::unordered_map<uint32_t, std::vector<Request>> pending_;
};

}  // namespace warpwright::emulated

#endif
