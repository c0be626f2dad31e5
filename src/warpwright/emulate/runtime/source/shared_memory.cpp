// Shared memory of running blocks: each variable lies between red zones, uninitialised for every block.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "machine.h"

namespace warpwright::emulated {
namespace {

constexpr uint64_t GAP = 256, ALIGNMENT = 128;
constexpr uint32_t NOBODY_WROTE_THIS = 0x7fa5c3e1u;  // a NaN, and as an integer no index of anything

uint64_t aligned(uint64_t offset, uint64_t to) { return (offset + to - 1) / to * to; }

void fill_unwritten(uintptr_t address, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 4)
    std::memcpy(reinterpret_cast<void*>(address + i), &NOBODY_WROTE_THIS, std::min<size_t>(4, bytes - i));
}

}  // namespace

void Machine::prepare_shared(Block& block) {
  if (free_slots_.empty()) {
    arena.add(shared_area() + slots_ * SHARED_BYTES, SHARED_BYTES, Space::SHARED, -1);
    free_slots_.push_back(slots_++);
  }
  block.slot = free_slots_.back();
  free_slots_.pop_back();
  block.shared = region_at[(shared_area() + block.slot * SHARED_BYTES - arena_at) >> GRANULE_BITS];
  Region& region = *block.shared;
  if (region.buffer != launch->number) {  // the gaps of another launch were elsewhere
    region.buffer = launch->number;
    region.bytes = SHARED_BYTES;
    const size_t used =
        std::min(region.cell_count, (std::max<uint64_t>(block.shared_used, DYNAMIC) + GAP) >> region.shift);
    for (size_t i = 0; i < used; ++i) region.cells[i] = Cell{}, region.cells[i].flags = NO_MANS_LAND;
  }
  block.shared_used = DYNAMIC;
  lay_out(block, DYNAMIC, launch->dynamic_shared);
  for (const SharedVariable& variable : variables_) lay_out(block, variable.offset, variable.bytes);
}

void Machine::lay_out(Block& block, uint64_t offset, uint64_t bytes) {
  Region& region = *block.shared;
  const uint64_t end = offset + bytes;
  if (end + GAP > SHARED_BYTES) throw std::runtime_error("more shared memory than a block can have");
  for (uint64_t i = block.shared_used >> region.shift; i < (end + GAP) >> region.shift; ++i)
    region.cells[i] = Cell{}, region.cells[i].flags = NO_MANS_LAND;
  for (uint64_t i = offset >> region.shift; i < (end + (1u << region.shift) - 1) >> region.shift; ++i)
    region.cells[i] = Cell{};
  fill_unwritten(region.base + offset, bytes);
  block.shared_used = std::max(block.shared_used, end);
  region.bytes = block.shared_used + GAP;
}

void* Machine::place(Slot& slot, size_t bytes, size_t alignment, const char* name) {
  if (slot.launch != launch_id_) {
    const uint64_t offset = aligned(next_static_ + GAP, std::max<uint64_t>(alignment, ALIGNMENT));
    next_static_ = offset + bytes;
    static_shared_ += bytes;
    variables_.push_back({name, offset, bytes});
    slot = {launch_id_, offset};
  }
  if (slot.offset + bytes > block_->shared_used)
    for (const SharedVariable& variable : variables_)
      if (variable.offset >= block_->shared_used) lay_out(*block_, variable.offset, variable.bytes);
  return reinterpret_cast<void*>(block_->shared->base + slot.offset);
}

const SharedVariable* Machine::variable_at(uint64_t offset) const {
  const SharedVariable* best = nullptr;
  for (const SharedVariable& variable : variables_)
    if (variable.offset <= offset + GAP / 2 && (!best || variable.offset > best->offset)) best = &variable;
  return best;
}

void* place(Slot* slot, size_t bytes, size_t alignment, const char* name) {
  Machine& machine = Machine::current();
  if (!machine.in_kernel()) unsupported("shared memory in host code");
  return machine.place(*slot, bytes, alignment, name);
}

void* dynamic_place(size_t) {
  Machine& machine = Machine::current();
  if (!machine.in_kernel()) unsupported("shared memory in host code");
  return machine.dynamic_place();
}

size_t dynamic_bytes() { return Machine::current().launch->dynamic_shared; }

unsigned shared_address(const void* pointer) {
  uintptr_t offset = reinterpret_cast<uintptr_t>(pointer) - Machine::current().block().shared->base;
  return offset < Machine::SHARED_BYTES ? static_cast<unsigned>(offset) : 0;
}

void* shared_pointer(unsigned address) {
  return reinterpret_cast<void*>(Machine::current().block().shared->base + address);
}

void copy(void* target, const void* source, size_t bytes) {
  // Variables of the device lie outside of the arena; what lies on the stack is the thread's own.
  if (reinterpret_cast<uintptr_t>(target) - hot.stack >= hot.stack_bytes && std::memcmp(target, source, bytes) != 0)
    ++Machine::current().progress;
  std::memcpy(target, source, bytes);
}

}  // namespace warpwright::emulated
