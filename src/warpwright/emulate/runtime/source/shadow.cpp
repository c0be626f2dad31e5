#include "shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace warpwright::emulated {

uintptr_t arena_at;
Region* region_at[SPAN >> GRANULE_BITS];

namespace {

constexpr uintptr_t PAGE = 4096, GRANULE = 1ull << GRANULE_BITS;
constexpr size_t STRAY_LIMIT = 16384;
constexpr uintptr_t CLOSE = 1ull << 34;

bool map_at(uintptr_t address, size_t bytes) {
  void* wanted = reinterpret_cast<void*>(address);
  void* got = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return true;
  if (got == MAP_FAILED && errno != EEXIST) throw std::runtime_error("no address space for device memory");
  if (got != MAP_FAILED) munmap(got, bytes);
  return false;
}

// Whether something of the process lies within the arena, or so close that it may grow into it.
bool is_close(const void* mine) { return reinterpret_cast<uintptr_t>(mine) - (arena_at - CLOSE) < SPAN + 2 * CLOSE; }

}  // namespace

void Region::make_cells() {
  origin = base & ~uintptr_t(15);
  cell_count = ((base + capacity - origin) >> shift) + 16;
  size_t size = cell_count * sizeof(Cell);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no address space for the shadow of device memory");
  cells = static_cast<Cell*>(memory);
}

void Region::drop_cells() {
  munmap(cells, cell_count * sizeof(Cell));
  cells = nullptr;
}

void Region::refine(unsigned wanted_shift) {
  Cell* coarse = cells;
  const size_t coarse_count = cell_count;
  const unsigned finer = shift - wanted_shift;
  shift = wanted_shift;
  make_cells();
  for (size_t i = 0; i < cell_count && i >> finer < coarse_count; ++i) cells[i] = coarse[i >> finer];
  munmap(coarse, coarse_count * sizeof(Cell));
}

void Region::mark(uintptr_t address, size_t size, Stamp stamp) {
  if (size == 0) return;
  for (uintptr_t at = (address - origin) >> shift; at <= (address + size - 1 - origin) >> shift; ++at)
    cells[at].write = stamp;
}

Region& Arena::add(uintptr_t base, size_t bytes, Space space, int buffer) {
  auto region = std::make_unique<Region>();
  region->base = base;
  region->bytes = region->capacity = bytes;
  region->space = space;
  region->buffer = buffer;
  region->make_cells();
  if (base - arena_at < SPAN) {
    const uintptr_t first = (base - arena_at) >> GRANULE_BITS,
                    last = (base + (bytes ? bytes - 1 : 0) - arena_at) >> GRANULE_BITS;
    if (last >= SPAN >> GRANULE_BITS) throw std::runtime_error("a buffer lies outside the arena");
    drop_strays(arena_at + first * GRANULE, (last - first + 1) * GRANULE);
    if (!map_at(arena_at + first * GRANULE, (last - first + 1) * GRANULE)) throw Taken();
    for (uintptr_t i = first; i <= last; ++i) region_at[i] = region.get();
  }
  regions_.push_back(std::move(region));
  return *regions_.back();
}

void Arena::move(uintptr_t to) {
  arena_at = to;
  void* newest = mmap(nullptr, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(newest, PAGE);
  if (is_close(newest) || is_close(&newest) || is_close(&arena_at) || is_close(reinterpret_cast<void*>(&mmap)))
    throw Taken();
}

void Arena::drop_strays(uintptr_t from, size_t bytes) {
  auto gone = std::partition(stray_pages_.begin(), stray_pages_.end(), [&](uintptr_t p) { return p - from >= bytes; });
  for (auto page = gone; page != stray_pages_.end(); ++page) munmap(reinterpret_cast<void*>(*page), PAGE);
  stray_pages_.erase(gone, stray_pages_.end());
}

void Arena::clear() {
  for (auto& region : regions_) {
    region->drop_cells();
    if (region->base - arena_at >= SPAN) continue;
    uintptr_t first = (region->base - arena_at) >> GRANULE_BITS,
              last = (region->base + std::max<uintptr_t>(region->capacity, 1) - 1 - arena_at) >> GRANULE_BITS;
    for (uintptr_t i = first; i <= last; ++i)
      if (region_at[i] == region.get()) region_at[i] = nullptr;
    munmap(reinterpret_cast<void*>(arena_at + first * GRANULE), (last - first + 1) * GRANULE);
  }
  drop_strays(0, ~size_t(0));
  regions_.clear();
}

Region* Arena::nearest(uintptr_t address) {
  Region* best = nullptr;
  uintptr_t best_distance = ~uintptr_t(0);
  for (auto& region : regions_) {
    uintptr_t distance = address < region->base ? region->base - address : address - region->base;
    if (distance < best_distance) best = region.get(), best_distance = distance;
  }
  return best;
}

bool Arena::back_page(uintptr_t address) {
  if (address - arena_at >= SPAN || stray_pages_.size() >= STRAY_LIMIT) return false;
  const uintptr_t page = address & ~(PAGE - 1);
  if (!map_at(page, PAGE)) return false;
  stray_pages_.push_back(page);
  return true;
}

}  // namespace warpwright::emulated
