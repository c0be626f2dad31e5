#include "counters.h"

#include <algorithm>

namespace warpwright::emulated {
namespace {

constexpr uintptr_t SECTOR = 32;

size_t distinct(uintptr_t* values, size_t count) {
  std::sort(values, values + count);
  return static_cast<size_t>(std::unique(values, values + count) - values);
}

size_t sectors_of(const uintptr_t* address, size_t lanes, size_t bytes) {
  uintptr_t sectors[64];
  size_t count = 0;
  for (size_t i = 0; i < lanes; ++i)
    for (uintptr_t s = address[i] / SECTOR; s <= (address[i] + bytes - 1) / SECTOR && count < 64; ++s)
      sectors[count++] = s;
  return distinct(sectors, count);
}

// Words of one bank are served one after another; the same word serves all who want it at once.
size_t wavefronts_of(const uintptr_t* address, size_t lanes, size_t bytes) {
  uintptr_t words[128];
  size_t count = 0, most = 0;
  for (size_t i = 0; i < lanes; ++i)
    for (uintptr_t w = address[i] / 4; w <= (address[i] + bytes - 1) / 4 && count < 128; ++w) words[count++] = w;
  size_t depth[32] = {};
  count = distinct(words, count);
  for (size_t i = 0; i < count; ++i) most = std::max(most, ++depth[words[i] & 31]);
  return most;
}

// Wide accesses are served by halves and quarters of a warp.
size_t all_wavefronts(const uintptr_t* address, size_t lanes, size_t bytes) {
  size_t at_once = bytes <= 4 ? 32 : 128 / bytes, total = 0;
  for (size_t i = 0; i < lanes; i += at_once) total += wavefronts_of(address + i, std::min(at_once, lanes - i), bytes);
  return total;
}

size_t worst_contention(const uintptr_t* address, size_t lanes) {
  uintptr_t sorted[32];
  std::copy(address, address + lanes, sorted);
  std::sort(sorted, sorted + lanes);
  size_t most = 0, run = 0;
  for (size_t i = 0; i < lanes; ++i) most = std::max(most, run = i && sorted[i] == sorted[i - 1] ? run + 1 : 1);
  return most;
}

}  // namespace

void Counters::add(std::vector<Touch>* const lanes[32]) {
  for (int lane = 0; lane < 32; ++lane) {
    if (!lanes[lane]) continue;
    std::unordered_map<uint32_t, size_t> times;
    for (const Touch& touch : *lanes[lane]) {
      Line& line = lines_[touch.site];
      line.space = touch.space, line.traffic = touch.traffic;
      ++line.accesses, line.bytes += touch.bytes;
      std::vector<Request>& requests = pending_[touch.site];
      size_t time = times[touch.site]++;
      if (requests.size() <= time) requests.resize(time + 1);
      Request& request = requests[time];
      request.bytes = touch.bytes;
      if (request.lanes < 32) request.address[request.lanes++] = touch.address;
    }
    lanes[lane]->clear();
  }
  for (auto& [site, requests] : pending_) {
    for (const Request& request : requests)
      if (request.lanes) count(lines_[site], request);
    requests.clear();
  }
}

void Counters::count(Line& line, const Request& request) {
  ++line.requests;
  line.lanes += request.lanes;
  if (line.space == Space::SHARED)
    line.wavefronts += all_wavefronts(request.address, request.lanes, request.bytes);
  else
    line.sectors += sectors_of(request.address, request.lanes, request.bytes);
  if (line.traffic == Traffic::ATOMIC) line.conflicts += worst_contention(request.address, request.lanes) - 1;
}

void Counters::add_unique(const Region& region, Stamp launch_floor) {
  const size_t cells =
      std::min(region.cell_count, ((region.base + region.bytes - region.origin - 1) >> region.shift) + 1);
  uintptr_t last_load = 0, last_store = 0;
  for (size_t i = 0; i < cells; ++i) {
    const uintptr_t sector = (region.origin + (i << region.shift)) / SECTOR;
    if (region.cells[i].read >= launch_floor && sector != last_load) ++load_sectors_touched, last_load = sector;
    if (region.cells[i].write >= launch_floor && sector != last_store) ++store_sectors_touched, last_store = sector;
  }
}

void Counters::clear() { *this = Counters(); }

Object Counters::totals(bool with_requests) const {
  auto sum = [](const uint64_t(&table)[3][3], Space space, Traffic traffic) {
    return table[static_cast<int>(space)][static_cast<int>(traffic)];
  };
  auto global = [&](const uint64_t(&table)[3][3], Traffic traffic) {
    return sum(table, Space::GLOBAL, traffic) + sum(table, Space::DEVICE, traffic);
  };
  uint64_t atomics = 0;
  for (auto& row : accesses) atomics += row[static_cast<int>(Traffic::ATOMIC)];
  Object totals{{"global_loads", global(accesses, Traffic::READ)},
                {"global_stores", global(accesses, Traffic::WRITE)},
                {"global_load_bytes", global(bytes, Traffic::READ)},
                {"global_store_bytes", global(bytes, Traffic::WRITE)},
                {"shared_loads", sum(accesses, Space::SHARED, Traffic::READ)},
                {"shared_stores", sum(accesses, Space::SHARED, Traffic::WRITE)},
                {"atomics", atomics},
                {"barriers", barriers},
                {"collectives", collectives},
                {"threads", threads},
                {"blocks", blocks},
                {"unique_load_sectors", load_sectors_touched},
                {"unique_store_sectors", store_sectors_touched},
                {"mma_flops", flops}};
  if (!with_requests) return totals;
  Line loads, stores, shared, atomic;
  for (const auto& [site, line] : lines_) {
    Line& into = line.traffic == Traffic::ATOMIC ? atomic
                 : line.space == Space::SHARED   ? shared
                 : line.traffic == Traffic::READ ? loads
                                                 : stores;
    into.requests += line.requests, into.sectors += line.sectors, into.wavefronts += line.wavefronts;
    into.lanes += line.lanes, into.conflicts += line.conflicts;
  }
  for (auto& [name, value] : std::initializer_list<std::pair<const char*, uint64_t>>{
           {"load_requests", loads.requests},
           {"load_sectors", loads.sectors},
           {"store_requests", stores.requests},
           {"store_sectors", stores.sectors},
           {"shared_requests", shared.requests},
           {"shared_wavefronts", shared.wavefronts},
           {"atomic_requests", atomic.requests},
           {"atomic_conflicts", atomic.conflicts},
           {"active_lanes", loads.lanes + stores.lanes + shared.lanes + atomic.lanes}})
    totals.emplace_back(name, value);
  return totals;
}

Array Counters::lines() const {
  static const char* const names[] = {"read", "write", "atomic"};
  Array list;
  for (const auto& [site, line] : lines_)
    list.push_back(Object{{"code", site},
                          {"space", line.space == Space::SHARED ? "shared" : "global"},
                          {"access", names[static_cast<int>(line.traffic)]},
                          {"accesses", line.accesses},
                          {"bytes", line.bytes},
                          {"requests", line.requests},
                          {"sectors", line.sectors},
                          {"wavefronts", line.wavefronts},
                          {"lanes", line.lanes}});
  return list;
}

}  // namespace warpwright::emulated
