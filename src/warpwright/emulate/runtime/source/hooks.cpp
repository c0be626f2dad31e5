// The hooks that the compiler's thread sanitizer calls before every access: simple cases are decided here.
#include "machine.h"

namespace warpwright::emulated {
namespace {

#define UNLIKELY(...) __builtin_expect(static_cast<bool>(__VA_ARGS__), 0)

// Written before this launch, or by this block before its last barrier, or by this thread.
inline bool plainly_settled(Stamp stamp) {
  return stamp - 1 < hot.launch_floor - 1 || stamp - hot.first < hot.floor - hot.first ||
         (((stamp ^ hot.stamp) & THREAD_BITS) == 0 && stamp >= hot.first);
}

// Readers of one interval are the lanes of a warp, or too many to matter who they are.
inline void join_plainly(Cell& cell, uint32_t site) {
  constexpr Stamp WARP_BITS = THREAD_BITS & ~Stamp(62);
  if (cell.flags & MANY_WARPS) return;
  if (((cell.read ^ hot.stamp) & WARP_BITS) == 0) {
    cell.lanes |= hot.lane_bit;
    cell.read &= ~ATOMIC;
    return;
  }
  cell.flags |= MANY_WARPS;
  cell.read = hot.stamp;
  cell.read_site = site;
}

inline bool plain_read(Cell& cell, uint32_t site) {
  if (UNLIKELY(!plainly_settled(cell.write))) return false;
  if (cell.read == hot.stamp) return true;
  if (cell.read >= hot.floor && cell.read >= hot.first) {
    // Lanes that met in between take the long way, because their order is known better.
    if (UNLIKELY(segment_of(cell.read) != segment_of(hot.stamp) && !(cell.flags & MANY_WARPS))) return false;
    join_plainly(cell, site);
    return true;
  }
  if (UNLIKELY(hot.first == ~Stamp(0) && cell.read >= hot.launch_floor)) return false;
  const uint32_t others = cell.read < hot.launch_floor ? 0
                          : cell.read < hot.first      ? MANY_BLOCKS
                                                       : cell.flags & MANY_BLOCKS;
  cell.read = hot.stamp;
  cell.lanes = hot.lane_bit;
  cell.read_site = site;
  cell.flags = (cell.flags & ~(MANY_WARPS | MANY_BLOCKS)) | others;
  return true;
}

inline bool plain_write(Cell& cell, uint32_t site) {
  if (UNLIKELY(cell.flags)) return false;
  if (UNLIKELY(cell.write && !plainly_settled(cell.write))) return false;
  if (UNLIKELY(cell.read >= hot.launch_floor && !(cell.read - hot.first < hot.floor - hot.first) &&
               !(((cell.read ^ hot.stamp) & THREAD_BITS) == 0 && cell.read >= hot.first && cell.lanes == hot.lane_bit)))
    return false;
  cell.write = hot.stamp;
  cell.write_site = site;
  return true;
}

extern "C" const char __ehdr_start;

template <size_t BYTES, bool WRITE>
inline void access(uintptr_t address, const void* code, bool aligned) {
  const uintptr_t offset = address - arena_at;
  if (offset >= SPAN) {
    if (UNLIKELY(address - hot.stack >= hot.stack_bytes && address - hot.image >= hot.image_bytes))
      check(address, BYTES, WRITE ? Access::WRITE : Access::READ, site_of(code));
    return;
  }
  const uint32_t site = static_cast<uint32_t>(static_cast<const char*>(code) - &__ehdr_start);
  constexpr Access WHAT = WRITE ? Access::WRITE : Access::READ;
  Region* region = region_at[offset >> GRANULE_BITS];
  constexpr unsigned CELLS = BYTES <= 4 ? 1 : BYTES / 4;
  if (UNLIKELY(!region ||
               region->shift > (BYTES >= 4   ? 2
                                : BYTES == 2 ? 1
                                             : 0) ||
               !region->live || address - region->base > region->bytes - BYTES || region->bytes < BYTES ||
               (address & (BYTES - 1)))) {
    // An access that the compiler itself takes for unaligned is none of the candidate's wide ones.
    if (!aligned && address & (BYTES - 1))
      for (size_t i = 0; i < BYTES; ++i) check(address + i, 1, WHAT, site);
    else
      check(address, BYTES, WHAT, site);
    return;
  }
  const unsigned cells = region->shift == 2 ? CELLS : static_cast<unsigned>(BYTES >> region->shift);
  Cell* cell = &region->cell(address);
  if (UNLIKELY(hot.tracing)) return check(address, BYTES, WHAT, site);
  for (unsigned i = 0; i < cells; ++i)
    if (UNLIKELY(!(WRITE ? plain_write(cell[i], site) : plain_read(cell[i], site))))
      return check(address, BYTES, WHAT, site);
  if (UNLIKELY(--hot.steps_left <= 0)) return check(address, BYTES, WHAT, site);
  const int space = static_cast<int>(region->space), traffic = WRITE ? 1 : 0;
  ++hot.counters->accesses[space][traffic];
  hot.counters->bytes[space][traffic] += BYTES;
}

void range(uintptr_t address, size_t bytes, const void* code, Access what) {
  if (address - arena_at >= SPAN && address - hot.stack < hot.stack_bytes) return;
  // A structure is moved in the widest pieces that its alignment allows.
  while (bytes) {
    size_t piece = 16;
    while (piece > bytes || address & (piece - 1)) piece /= 2;
    check(address, piece, what, site_of(code));
    address += piece, bytes -= piece;
  }
}

}  // namespace
}  // namespace warpwright::emulated

using namespace warpwright::emulated;

#define CALLER __builtin_return_address(0)
#define AT reinterpret_cast<uintptr_t>(address)
#define WARPWRIGHT_HOOKS(N)                                                                                           \
  void __tsan_read##N(void* address) { access<N, false>(AT, CALLER, true); }                                          \
  void __tsan_write##N(void* address) { access<N, true>(AT, CALLER, true); }                                          \
  void __tsan_unaligned_read##N(void* address) { access<N, false>(AT, CALLER, false); }                               \
  void __tsan_unaligned_write##N(void* address) { access<N, true>(AT, CALLER, false); }                               \
  void __tsan_read_write##N(void* address) { access<N, false>(AT, CALLER, true), access<N, true>(AT, CALLER, true); } \
  void __tsan_unaligned_read_write##N(void* address) {                                                                \
    access<N, false>(AT, CALLER, false), access<N, true>(AT, CALLER, false);                                          \
  }                                                                                                                   \
  void __tsan_volatile_read##N(void* address) { range(AT, N, CALLER, Access::VOLATILE_READ); }                        \
  void __tsan_volatile_write##N(void* address) { range(AT, N, CALLER, Access::VOLATILE_WRITE); }                      \
  void __tsan_unaligned_volatile_read##N(void* address) { range(AT, N, CALLER, Access::VOLATILE_READ); }              \
  void __tsan_unaligned_volatile_write##N(void* address) { range(AT, N, CALLER, Access::VOLATILE_WRITE); }

extern "C" {
WARPWRIGHT_HOOKS(1)
WARPWRIGHT_HOOKS(2)
WARPWRIGHT_HOOKS(4)
WARPWRIGHT_HOOKS(8)
WARPWRIGHT_HOOKS(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* address, size_t bytes) { range(AT, bytes, CALLER, Access::READ); }
void __tsan_write_range(void* address, size_t bytes) { range(AT, bytes, CALLER, Access::WRITE); }

void* __tsan_memcpy(void* target, const void* source, size_t bytes) {
  range(reinterpret_cast<uintptr_t>(source), bytes, CALLER, Access::READ);
  range(reinterpret_cast<uintptr_t>(target), bytes, CALLER, Access::WRITE);
  return __builtin_memmove(target, source, bytes);
}
void* __tsan_memmove(void* target, const void* source, size_t bytes) { return __tsan_memcpy(target, source, bytes); }
void* __tsan_memset(void* target, int value, size_t bytes) {
  range(reinterpret_cast<uintptr_t>(target), bytes, CALLER, Access::WRITE);
  return __builtin_memset(target, value, bytes);
}

}

// The compiler's own atomics: guards of host statics, and in kernels the standard library's atomic objects.
namespace {
void checked_atomic(const volatile void* address, size_t bytes, Access access, int order, const void* code) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  if (at - arena_at >= SPAN) return;
  const bool releases = order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
  if (releases && access != Access::ATOMIC_READ) fence(Fence::DEVICE);
  check(at, bytes, access, site_of(code), {false, order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE});
}

// An update that does not change the value is no progress.
template <class T>
struct Update {
  const volatile T* address;
  T before = *address;
  ~Update() {
    if (*address != before) ++Machine::current().progress;
  }
};
}  // namespace
#define WARPWRIGHT_CHECK_ATOMIC(ACCESS) checked_atomic(address, sizeof(*address), Access::ACCESS, order, CALLER)
#define WARPWRIGHT_CHECK_UPDATE(T) WARPWRIGHT_CHECK_ATOMIC(ATOMIC); const Update<T> update { address }

extern "C" {
#define WARPWRIGHT_FETCH(BITS, T, NAME)                                           \
  T __tsan_atomic##BITS##_fetch_##NAME(volatile T* address, T value, int order) { \
    WARPWRIGHT_CHECK_UPDATE(T);                                                   \
    return __atomic_fetch_##NAME(address, value, __ATOMIC_SEQ_CST);               \
  }
#define WARPWRIGHT_EXCHANGE(BITS, T, HOW)                                                                        \
  bool __tsan_atomic##BITS##_compare_exchange_##HOW(volatile T* address, T* expected, T value, int order, int) { \
    WARPWRIGHT_CHECK_UPDATE(T);                                                                                  \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
  }
#define WARPWRIGHT_ATOMICS(BITS, T)                                                                        \
  T __tsan_atomic##BITS##_load(const volatile T* address, int order) {                                     \
    WARPWRIGHT_CHECK_ATOMIC(ATOMIC_READ);                                                                  \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                     \
  }                                                                                                        \
  void __tsan_atomic##BITS##_store(volatile T* address, T value, int order) {                              \
    WARPWRIGHT_CHECK_ATOMIC(ATOMIC_WRITE);                                                                 \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                        \
  T __tsan_atomic##BITS##_exchange(volatile T* address, T value, int order) {                              \
    WARPWRIGHT_CHECK_UPDATE(T);                                                                            \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                          \
  }                                                                                                        \
  T __tsan_atomic##BITS##_compare_exchange_val(volatile T* address, T expected, T value, int order, int) { \
    WARPWRIGHT_CHECK_UPDATE(T);                                                                            \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
    return expected;                                                                                       \
  }                                                                                                        \
  WARPWRIGHT_EXCHANGE(BITS, T, strong)                                                                     \
  WARPWRIGHT_EXCHANGE(BITS, T, weak)                                                                       \
  WARPWRIGHT_FETCH(BITS, T, add)                                                                           \
  WARPWRIGHT_FETCH(BITS, T, sub)                                                                           \
  WARPWRIGHT_FETCH(BITS, T, and)                                                                           \
  WARPWRIGHT_FETCH(BITS, T, or)                                                                            \
  WARPWRIGHT_FETCH(BITS, T, xor)                                                                           \
  WARPWRIGHT_FETCH(BITS, T, nand)
WARPWRIGHT_ATOMICS(8, uint8_t)
WARPWRIGHT_ATOMICS(16, uint16_t)
WARPWRIGHT_ATOMICS(32, uint32_t)
WARPWRIGHT_ATOMICS(64, uint64_t)
void __tsan_atomic_thread_fence(int) { fence(Fence::DEVICE); }
void __tsan_atomic_signal_fence(int) {}
}
