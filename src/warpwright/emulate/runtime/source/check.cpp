// Checks accesses that are not trivially valid: out of bounds, misaligned, uninitialised, or racing with another
// thread.
#include <algorithm>
#include <cstring>
#include <optional>

#include "machine.h"

extern "C" {
// The section of the candidate's device variables, absent when there are none.
extern char __start_warpwright_device __attribute__((weak));
extern char __stop_warpwright_device __attribute__((weak));
extern const char __ehdr_start;
extern const char _end;
}

namespace warpwright::emulated {
namespace {

// A write that races with another write: harmless if it stores the value that is there already, which is known
// afterwards.
struct ContestedWrite {
  uintptr_t address;
  size_t bytes;
  unsigned char before[16];
  Finding finding;
};
std::vector<ContestedWrite> contested;
std::optional<Overrun> overrun;
int overrun_patience;
constexpr int ACCESSES_BETWEEN = 8;  // that an index may be ahead of its use

bool is_read(Access access) {
  return access == Access::READ || access == Access::VOLATILE_READ || access == Access::ATOMIC_READ;
}
bool is_atomic(Access access) { return access >= Access::ATOMIC; }
// Operations of the programming model's own, and not volatile accesses that hardware treats alike.
bool is_update(Access access) { return access == Access::ATOMIC || access == Access::ATOMIC_WRITE; }
Traffic traffic_of(Access access) {
  return access == Access::ATOMIC ? Traffic::ATOMIC : is_read(access) ? Traffic::READ : Traffic::WRITE;
}
const char* verb(Access access) { return is_read(access) ? "read" : access == Access::ATOMIC ? "atomic" : "write"; }

struct Checking {
  Machine& machine;
  Region* region;
  uintptr_t address;
  size_t bytes;
  Access access;
  uint32_t site;
  Strength strength;

  Memory memory() const {
    Memory memory;
    memory.bytes = bytes;
    if (!region) return memory;
    memory.space = region->space;
    memory.offset = static_cast<int64_t>(address - region->base);
    if (region->space == Space::GLOBAL) memory.buffer = region->buffer;
    if (region->space != Space::SHARED) return memory;
    const uint64_t offset = address - region->base;
    const SharedVariable* variable = machine.variable_at(offset);
    if (variable && offset + 128 >= variable->offset) {
      memory.name = variable->name;
      memory.offset = static_cast<int64_t>(offset - variable->offset);
    } else {
      memory.offset = static_cast<int64_t>(offset) - static_cast<int64_t>(Machine::DYNAMIC);
    }
    return memory;
  }

  Finding finding(const char* kind, Severity severity, std::string message) const {
    Finding finding;
    finding.kind = kind;
    finding.severity = severity;
    finding.site = site;
    finding.message = std::move(message);
    finding.memory = memory();
    return finding;
  }

  void report(const char* kind, Severity severity, std::string message) const {
    if (!machine.findings.known(kind, site, 0, severity)) machine.report(finding(kind, severity, std::move(message)));
  }

  Party party(Stamp stamp, uint32_t other_site, const char* what) const {
    Party other;
    other.site = other_site;
    other.access = what;
    other.thread = machine.thread_index(thread_of(stamp));
    other.block = one_block() ? machine.block().index : machine.block_index(machine.owner(stamp));
    return other;
  }

  // Whether only threads of this block can access the memory.
  bool one_block() const { return region->space == Space::SHARED && !machine.clustered(); }
  bool settled(Stamp stamp, bool& only_met) const;
  bool of_other_block(Stamp stamp) const;
  bool too_narrow(const Cell& cell) const;
  void race(const char* what, Stamp other, uint32_t other_site, const char* other_access, bool only_met);
  bool readable(Cell& cell);
  void read(Cell& cell);
  void join_readers(Cell& cell);
  void write(Cell& cell);
  void against_readers(Cell& cell);
};

// Whether an access of another thread is known to come before this one.
bool Checking::settled(Stamp stamp, bool& only_met) const {
  if (stamp < hot.launch_floor) return true;
  Block& block = machine.block();
  const Segment when = segment_of(stamp);
  const unsigned other = thread_of(stamp), me = thread_of(hot.stamp);
  if (!one_block()) {
    const unsigned owner = machine.owner(stamp);
    if (owner != block.number) {
      auto known = block.acquired.find(owner);
      if (known == block.acquired.end()) return false;
      return when < known->second.floor || (other == known->second.thread && when < known->second.upto);
    }
  }
  if (other == me || when < machine.thread().floor) return true;
  if (other >> 5 != me >> 5) return false;
  const Warp& warp = block.warps[me >> 5];
  if (warp.ordered.covers(me & 31, other & 31, when)) return true;
  only_met = warp.met.covers(me & 31, other & 31, when);
  return only_met;
}

bool Checking::of_other_block(Stamp stamp) const {
  return stamp >= hot.launch_floor && !one_block() && machine.owner(stamp) != machine.block().number;
}

// Atomic operations of two blocks, one of which is atomic within its own block alone.
bool Checking::too_narrow(const Cell& cell) const {
  return (strength.block_only || cell.flags & BLOCK_ONLY) && of_other_block(cell.write);
}

void Checking::race(const char* what, Stamp other, uint32_t other_site, const char* other_access, bool only_met) {
  const Severity severity = only_met ? Severity::TOLERATED : Severity::LIKELY;
  if (machine.findings.known("race", site, other_site, severity)) return;
  Finding found = finding("race", severity, what);
  found.other = party(other, other_site, other_access);
  if (only_met) found.message += "; only an operation of the warp that is no fence lies between them";
  const bool both_write = std::strcmp(other_access, "write") == 0 && access == Access::WRITE;
  if (!both_write || contested.size() > 64) return machine.report(std::move(found));
  ContestedWrite write{address, std::min<size_t>(bytes, 16), {}, std::move(found)};
  std::memcpy(write.before, reinterpret_cast<void*>(address), write.bytes);
  contested.push_back(std::move(write));
  hot.unsettled = true;
}

bool Checking::readable(Cell& cell) {
  if (cell.write) return true;
  if (cell.flags & NO_MANS_LAND) {
    report("out-of-bounds", Severity::FATAL,
           std::string("shared memory is ") + verb(access) + " outside every variable");
    return false;
  }
  if (cell.flags & IN_FLIGHT) {
    report("async-copy", Severity::LIKELY, "data of an asynchronous copy is used before anyone has waited for it");
    return false;
  }
  if (is_read(access) || access == Access::ATOMIC)
    report("uninitialised", Severity::LIKELY, "memory is read that nobody has written");
  return true;
}

void Checking::read(Cell& cell) {
  if (!readable(cell)) return;
  bool only_met = false;
  const bool exempt = is_atomic(access) && cell.write & ATOMIC && !too_narrow(cell);
  if (cell.write && !exempt && !settled(cell.write, only_met))
    race("memory is read while another thread writes it", cell.write, cell.write_site,
         cell.write & ATOMIC ? "atomic" : "write", false);
  else if (only_met)
    race("memory is read after another thread has written it", cell.write, cell.write_site, "write", true);
  join_readers(cell);
}

// Stores readers as lanes of one warp, and other readers as a flag, which suffices for a later writer.
void Checking::join_readers(Cell& cell) {
  const Stamp mine = hot.stamp | (is_atomic(access) ? ATOMIC : 0), before = cell.read;
  auto become_the_reader = [&](uint32_t flags) {
    cell.read = mine;
    cell.lanes = hot.lane_bit;
    cell.read_site = site;
    cell.flags = (cell.flags & ~(MANY_WARPS | MANY_BLOCKS)) | flags;
  };
  if (before < hot.launch_floor) return become_the_reader(0);
  if (!one_block() && machine.owner(before) != machine.block().number)
    return become_the_reader(MANY_BLOCKS);
  const uint32_t blocks = cell.flags & MANY_BLOCKS;
  const Segment when = segment_of(before);
  if (when < machine.thread().floor) return become_the_reader(blocks);
  if (warp_of(before) != warp_of(mine)) return become_the_reader(blocks | MANY_WARPS);
  if (when == segment_of(mine)) {
    cell.lanes |= hot.lane_bit;
    cell.read &= ~ATOMIC | mine;
    return;
  }
  const Warp& warp = machine.block().warps[warp_of(mine)];
  bool all_known = true;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (cell.lanes >> lane & 1) all_known &= warp.ordered.covers(thread_of(mine) & 31, lane, when);
  if (all_known) return become_the_reader(cell.flags & (MANY_BLOCKS | MANY_WARPS));
  cell.lanes |= hot.lane_bit;
}

void Checking::against_readers(Cell& cell) {
  const char* message = "memory is written while another thread may still read it";
  const Stamp reader = cell.read;
  const bool both_atomic = reader & ATOMIC && is_atomic(access);
  if (reader < hot.launch_floor || (both_atomic && !(strength.block_only && of_other_block(reader)))) return;
  bool only_met = false;
  const bool own_block = one_block() || machine.owner(reader) == machine.block().number;
  if (!own_block) {
    if (!settled(reader, only_met)) race(message, reader, cell.read_site, "read", false);
    return;
  }
  if (cell.flags & MANY_BLOCKS && machine.block().acquired.empty())
    return race(message, reader, cell.read_site, "read", false);
  const Segment when = segment_of(reader);
  if (when < machine.thread().floor) return;
  const unsigned me = thread_of(hot.stamp);
  if (cell.flags & MANY_WARPS || warp_of(reader) != me >> 5)
    return race(message, reader, cell.read_site, "read", false);
  const Warp& warp = machine.block().warps[me >> 5];
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(cell.lanes >> lane & 1) || lane == (me & 31) || warp.ordered.covers(me & 31, lane, when)) continue;
    const Stamp other = first_of(when) | ((me & ~31u) + lane) << 1;
    return race(message, other, cell.read_site, "read", warp.met.covers(me & 31, lane, when));
  }
}

void Checking::write(Cell& cell) {
  if (!readable(cell)) return;
  bool only_met = false;
  const bool volatile_pair = access == Access::VOLATILE_WRITE && region->space == Space::SHARED &&
                             warp_of(cell.write) == warp_of(hot.stamp) && cell.write >= hot.launch_floor;
  const bool narrow = is_atomic(access) && cell.write & ATOMIC && too_narrow(cell);
  const bool exempt = is_atomic(access) && cell.write & ATOMIC && !volatile_pair && !narrow;
  const bool after_plain_of_others = is_update(access) && cell.flags & PLAIN_FIRST && of_other_block(cell.write) &&
                                     !settled(cell.write, only_met);
  if (after_plain_of_others || (cell.write && !exempt && !settled(cell.write, only_met)))
    race(narrow ? "memory is updated by atomic operations of two blocks that count for one block alone"
                : "two threads write the same memory",
         cell.write, cell.write_site, cell.write & ATOMIC ? "atomic" : "write", false);
  against_readers(cell);
  // An atomic operation does not hide the plain write of the same thread, or of its block, from those who come later.
  const bool over_plain = is_update(access) && cell.write >= hot.launch_floor && !(cell.write & ATOMIC) &&
                          segment_of(cell.write) >= machine.cluster_floor();
  const bool unsettled = over_plain && segment_of(cell.write) >= machine.thread().floor;
  if (over_plain)
    cell.flags |= PLAIN_FIRST;
  else if (cell.write < hot.launch_floor || !is_atomic(access))
    cell.flags &= ~PLAIN_FIRST;
  if (cell.write < hot.launch_floor || !is_atomic(access)) cell.flags &= ~BLOCK_ONLY;
  if (is_atomic(access) && strength.block_only) cell.flags |= BLOCK_ONLY;
  cell.write = hot.stamp | (is_atomic(access) && !unsettled ? ATOMIC : 0);
  cell.write_site = site;
}

void outside_arena(uintptr_t address, size_t bytes, Access access, uint32_t site) {
  Machine& machine = Machine::current();
  const uintptr_t image = reinterpret_cast<uintptr_t>(&__ehdr_start), image_end = reinterpret_cast<uintptr_t>(&_end);
  if (address >= image && address < image_end) return;  // constants and tables of the candidate
  Checking checking{machine, nullptr, address, bytes, access, site, {}};
  if (address < 65536)
    checking.report("null", Severity::FATAL,
                    std::string("a null pointer is ") + (is_read(access) ? "read" : "written"));
  else
    checking.report("host-memory", Severity::FATAL, "a kernel uses memory that is not the device's");
}

void out_of_bounds(uintptr_t address, size_t bytes, Access access, uint32_t site) {
  Machine& machine = Machine::current();
  Region* nearest = machine.arena.nearest(address);
  Checking checking{machine, nearest, address, bytes, access, site, {}};
  const int64_t offset = nearest ? static_cast<int64_t>(address - nearest->base) : 0;
  std::string where =
      nearest ? "byte " + std::to_string(offset) + " of an array of " + std::to_string(nearest->bytes) + " bytes" : "";
  checking.report("out-of-bounds", Severity::FATAL, std::string(is_read(access) ? "read" : "write") + " at " + where);
}

Region* device_variables(uintptr_t address) {
  const uintptr_t start = reinterpret_cast<uintptr_t>(&__start_warpwright_device);
  if (!start || address - start >= reinterpret_cast<uintptr_t>(&__stop_warpwright_device) - start) return nullptr;
  for (auto& region : Machine::current().arena.regions())
    if (region->space == Space::DEVICE) return region.get();
  return nullptr;
}

void count(Machine& machine, const Region& region, uintptr_t address, size_t bytes, Access access, uint32_t site) {
  const int space = static_cast<int>(region.space), traffic = static_cast<int>(traffic_of(access));
  ++machine.counters.accesses[space][traffic];
  machine.counters.bytes[space][traffic] += bytes;
  if (hot.tracing)
    machine.thread().trace.push_back({address, site, static_cast<uint8_t>(bytes), region.space, traffic_of(access)});
}

}  // namespace

namespace {

void report_overrun(Severity severity) {
  Finding finding;
  finding.kind = "bounds";
  finding.severity = severity;
  finding.file = overrun->file;
  finding.line = overrun->line;
  finding.message = "index " + std::to_string(overrun->index) + " of an array of type " + overrun->type;
  Machine::current().report(std::move(finding));
  overrun.reset();
}

// The access is that of a row beyond its end if it lies where the index would put it, in an array of such rows.
void judge_overrun(uintptr_t address, size_t bytes) {
  Region* region = address - arena_at < SPAN ? region_at[(address - arena_at) >> GRANULE_BITS] : nullptr;
  bool in_rows = false;
  if (region && region->space == Space::SHARED && overrun->extent > 0) {
    const SharedVariable* variable = Machine::current().variable_at(address - region->base);
    const int64_t row = overrun->extent * static_cast<int64_t>(bytes);
    const int64_t offset = static_cast<int64_t>(address - region->base - (variable ? variable->offset : 0));
    in_rows = variable && (offset - overrun->index * static_cast<int64_t>(bytes)) % row == 0;
  }
  if (!in_rows && --overrun_patience > 0) return;
  hot.tracing = Machine::current().settings.counters;
  report_overrun(in_rows ? Severity::TOLERATED : Severity::FATAL);
}

}  // namespace

void note_bounds(const Overrun& seen) {
  if (overrun) report_overrun(Severity::FATAL);
  overrun = seen;
  hot.unsettled = true;
  overrun_patience = ACCESSES_BETWEEN;
  hot.tracing = true;  // the next access comes the long way
}

void settle_all() {
  if (overrun) report_overrun(Severity::FATAL);
  settle();
}

void settle() {
  hot.unsettled = overrun.has_value();
  std::vector<ContestedWrite> settling;
  settling.swap(contested);
  for (ContestedWrite& write : settling) {
    const bool same = std::memcmp(write.before, reinterpret_cast<void*>(write.address), write.bytes) == 0;
    if (same) write.finding.severity = Severity::TOLERATED;
    write.finding.message += same ? " (the same value)" : " (different values)";
    Machine::current().report(std::move(write.finding));
  }
}

void check(uintptr_t address, size_t bytes, Access access, uint32_t site, Strength strength) {
  Machine& machine = Machine::current();
  if (!machine.in_kernel()) return;
  if (overrun) judge_overrun(address, bytes);
  settle_if_any();
  const bool looks = is_atomic(access) && (is_read(access) || access == Access::ATOMIC);
  if (--hot.steps_left <= 0) machine.out_of_steps({site, address, is_read(access) ? 0 : bytes, looks});
  const bool in_arena = address - arena_at < SPAN;
  Region* region = in_arena ? region_at[(address - arena_at) >> GRANULE_BITS] : device_variables(address);
  if (!region)
    return in_arena ? out_of_bounds(address, bytes, access, site) : outside_arena(address, bytes, access, site);
  if (!region->holds(address, bytes)) return out_of_bounds(address, bytes, access, site);
  Checking checking{machine, region, address, bytes, access, site, strength};
  if (!region->live)
    checking.report("freed", Severity::FATAL,
                    region->space == Space::SHARED ? "shared memory is used of a block that has exited"
                                                   : "memory is used after the host code has freed it");
  if ((bytes & (bytes - 1)) == 0 && address & (bytes - 1))
    checking.report("misaligned", Severity::FATAL,
                    "an access of " + std::to_string(bytes) + " bytes at an address that is " +
                        std::to_string(address & (bytes - 1)) + " modulo " + std::to_string(bytes));
  if (bytes < 1u << region->shift) region->refine(bytes >= 2 && !(address & 1) ? 1 : 0);
  count(machine, *region, address, bytes, access, site);
  if (looks && ++machine.thread().polls % 64 == 0) {
    // Others go on here, and what they publish meanwhile is seen by this very access.
    machine.thread().waiting.site = site;
    machine.wait(State::POLLING);
  }
  if (looks) machine.acquire(address, strength.acquires);
  if (is_atomic(access) && !is_read(access)) machine.publish(address);
  for (uintptr_t at = address; at < address + bytes; at += 1u << region->shift)
    is_read(access) ? checking.read(region->cell(at)) : checking.write(region->cell(at));
}

void touch(const void* address, size_t bytes, Access access, Strength strength) {
  check(reinterpret_cast<uintptr_t>(address), bytes, access, site_of(__builtin_return_address(0)), strength);
}

}  // namespace warpwright::emulated
