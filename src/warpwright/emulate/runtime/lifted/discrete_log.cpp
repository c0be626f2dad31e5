// Discrete logarithms by baby steps and giant steps; each level's table is made at its first use.
#include <memory>
#include <unordered_map>
#include <vector>

#include "number.h"

namespace warpwright::lifted {
namespace {

constexpr uint32_t BABY_STEPS = 1 << 20, SLOTS = 1 << 21;
constexpr size_t MOST_KEPT = 1 << 20;

struct Table {
  std::vector<uint32_t> key = std::vector<uint32_t>(SLOTS), step = std::vector<uint32_t>(SLOTS);
  uint32_t giant;

  explicit Table(int level) {
    uint64_t power_of_base = 1;
    for (uint32_t i = 0; i < BABY_STEPS; ++i, power_of_base = power_of_base * 4 % P[level])
      put(static_cast<uint32_t>(power_of_base), i);
    giant = inverse(static_cast<uint32_t>(power_of_base), P[level]);
  }
  static uint32_t slot(uint32_t x) { return (x * 2654435761u) >> 11; }
  void put(uint32_t x, uint32_t i) {
    uint32_t at = slot(x);
    while (key[at]) at = (at + 1) % SLOTS;
    key[at] = x, step[at] = i;
  }
  int64_t find(uint32_t x) const {
    for (uint32_t at = slot(x); key[at]; at = (at + 1) % SLOTS)
      if (key[at] == x) return step[at];
    return -1;
  }
};

const Table& table(int level) {
  static std::unique_ptr<Table> tables[LEVELS];
  if (!tables[level]) tables[level] = std::make_unique<Table>(level);
  return *tables[level];
}

uint32_t searched(int level, uint32_t x) {
  const Table& known = table(level);
  for (uint64_t begin = 0;; begin += BABY_STEPS, x = static_cast<uint32_t>(uint64_t{x} * known.giant % P[level]))
    if (const int64_t found = known.find(x); found >= 0) return static_cast<uint32_t>((begin + found) % P[level + 1]);
}

}  // namespace

uint32_t discrete_log(int level, uint32_t x) {
  static std::unordered_map<uint32_t, uint32_t> earlier[LEVELS];
  if (earlier[level].size() >= MOST_KEPT) earlier[level].clear();
  const auto [found, is_new] = earlier[level].try_emplace(x);
  if (is_new) found->second = searched(level, x);
  return found->second;
}

}  // namespace warpwright::lifted
