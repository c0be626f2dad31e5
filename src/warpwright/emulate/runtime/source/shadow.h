// Device memory with a shadow: the last writer and readers of each word, and whether it was written at all.
#ifndef WARPWRIGHT_EMULATE_SHADOW_H
#define WARPWRIGHT_EMULATE_SHADOW_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace warpwright::emulated {

// Where the memory of the device begins: elsewhere in every call, so that no address tells where a kernel runs.
extern uintptr_t arena_at;
constexpr uintptr_t SPAN = 1ull << 36;
constexpr unsigned GRANULE_BITS = 16;
// Blocks in flight have their shared memory from here on.
inline uintptr_t shared_area() { return arena_at + SPAN - (1ull << 32); }

// Thrown if the process's own memory overlaps the arena: the call must be repeated with another arena.
struct Taken {};

// When and by whom: segment (53 bits), thread of the block (10 bits), atomic (1 bit). A segment is a stretch of a
// thread's run between two points where it meets others; segments are numbered through the whole process, so they
// neither wrap nor repeat, and numbers of earlier launches and blocks are smaller. 0 is never.
using Stamp = uint64_t;
using Segment = uint64_t;
constexpr unsigned SEGMENT_SHIFT = 11;
constexpr Stamp ATOMIC = 1;
constexpr Stamp THREAD_BITS = 0x7fe;
constexpr Stamp BY_HOST = 1ull << SEGMENT_SHIFT;
inline Segment segment_of(Stamp stamp) { return stamp >> SEGMENT_SHIFT; }
inline unsigned thread_of(Stamp stamp) { return static_cast<unsigned>(stamp & THREAD_BITS) >> 1; }
inline unsigned warp_of(Stamp stamp) { return thread_of(stamp) >> 5; }
inline Stamp first_of(Segment segment) { return segment << SEGMENT_SHIFT; }

struct Cell {
  Stamp write = 0;
  Stamp read = 0;  // the latest reader; `lanes` are those of its warp that read in the same interval
  uint32_t lanes = 0;
  uint32_t write_site = 0, read_site = 0;
  uint32_t flags = 0;
};
enum CellFlag : uint32_t {
  MANY_WARPS = 1,   // readers of several warps since the last barrier
  MANY_BLOCKS = 2,  // readers of several blocks in this launch
  NO_MANS_LAND = 4,
  IN_FLIGHT = 8,    // target of an asynchronous copy that nobody has waited for
  PLAIN_FIRST = 16,  // atomic operations came after a plain write of the same launch
  BLOCK_ONLY = 32    // atomic operations of this launch that count for their own block alone
};

enum class Space : uint8_t { GLOBAL, SHARED, DEVICE };

struct Region {
  uintptr_t base = 0;      // of the memory itself
  uintptr_t bytes = 0;     // in use
  uintptr_t capacity = 0;  // with cells: what shared memory may grow to
  uintptr_t origin = 0;    // of the first cell: the base, rounded down
  Cell* cells = nullptr;
  size_t cell_count = 0;
  unsigned shift = 2;  // a cell stands for 1 << shift bytes
  Space space = Space::GLOBAL;
  int buffer = -1;
  bool live = true;

  Cell& cell(uintptr_t address) { return cells[(address - origin) >> shift]; }
  bool holds(uintptr_t address, size_t size) const { return address >= base && address + size <= base + bytes; }
  void make_cells();
  void drop_cells();
  // A store of fewer bytes than a cell stands for: from now on cells stand for less.
  void refine(unsigned wanted_shift);
  void mark(uintptr_t address, size_t size, Stamp stamp);
};

// Regions by granule, so that an address finds its own in one step.
extern Region* region_at[SPAN >> GRANULE_BITS];

class Arena {
 public:
  Region& add(uintptr_t base, size_t bytes, Space space, int buffer);
  // Only between calls, when nothing is there.
  void move(uintptr_t to);
  void clear();
  // Whether memory of the process itself lies, even in part, among that of the device.
  bool meets(uintptr_t start, size_t bytes) const { return start + bytes - arena_at < SPAN + bytes; }
  Region* nearest(uintptr_t address);
  std::vector<std::unique_ptr<Region>>& regions() { return regions_; }
  // Backs the page of a stray access, so that the run can go on after the finding. False when there were too many.
  bool back_page(uintptr_t address);

 private:
  // Pages that were backed for stray accesses make room for memory that is really there.
  void drop_strays(uintptr_t from, size_t bytes);
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<uintptr_t> stray_pages_;
};

}  // namespace warpwright::emulated

#endif
