// Asynchronous copies. A GPU may write the data at any time between issue and wait: here it is always the last moment,
// and until then no thread may use the target.
#include <algorithm>
#include <cstring>

#include "machine.h"

namespace warpwright::emulated {
namespace {

void mark_in_flight(const AsyncCopy& copy, bool in_flight) {
  Region* region = region_at[(copy.target - arena_at) >> GRANULE_BITS];
  for (uintptr_t at = copy.target; at < copy.target + copy.bytes; at += 1u << region->shift) {
    Cell& cell = region->cell(at);
    if (in_flight)
      cell.write = 0, cell.flags |= IN_FLIGHT;
    else
      cell.flags &= ~IN_FLIGHT;
  }
}

void land(const AsyncCopy& copy) {
  mark_in_flight(copy, false);
  std::memcpy(reinterpret_cast<void*>(copy.target), copy.data, copy.bytes);
  Region* region = region_at[(copy.target - arena_at) >> GRANULE_BITS];
  for (uintptr_t at = copy.target; at < copy.target + copy.bytes; at += 1u << region->shift) {
    region->cell(at).write = hot.stamp;
    region->cell(at).write_site = copy.site;
  }
}

}  // namespace

void async_copy(void* shared, const void* global, size_t bytes, size_t valid) {
  Machine& machine = Machine::current();
  const uint32_t site = site_of(__builtin_return_address(0));
  AsyncCopy copy{reinterpret_cast<uintptr_t>(shared), bytes, site, machine.thread().group, {}};
  if (valid) {
    check(reinterpret_cast<uintptr_t>(global), valid, Access::READ, site);
    std::memcpy(copy.data, global, valid);
  }
  check(copy.target, bytes, Access::WRITE, site);
  Region* region = copy.target - arena_at < SPAN ? region_at[(copy.target - arena_at) >> GRANULE_BITS] : nullptr;
  if (!region || !region->holds(copy.target, bytes)) return;
  mark_in_flight(copy, true);
  machine.thread().copies.push_back(copy);
}

void async_commit() { ++Machine::current().thread().group; }

void async_wait(unsigned pending_groups) {
  Thread& me = Machine::current().thread();
  const unsigned done = me.group >= pending_groups ? me.group - pending_groups : 0;
  auto landed =
      std::stable_partition(me.copies.begin(), me.copies.end(), [&](const AsyncCopy& c) { return c.group < done; });
  for (auto copy = me.copies.begin(); copy != landed; ++copy) land(*copy);
  me.copies.erase(me.copies.begin(), landed);
}

}  // namespace warpwright::emulated
