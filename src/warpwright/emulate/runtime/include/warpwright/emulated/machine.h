// The calls of compiled kernels into the machine that runs them. The machine is in the runtime's object, without
// sanitizers, so its own accesses are not mistaken for the candidate's.
#ifndef WARPWRIGHT_EMULATED_MACHINE_H
#define WARPWRIGHT_EMULATED_MACHINE_H

#include <cstddef>
#include <cstdint>

#include "vector_types.h"

// A thread never sees its own indices change, so the compiler may take them for constants. The extents have no
// constructors here, because what could be initialised late would be read, and checked, each time.
extern const uint3 threadIdx __asm__("warpwright_thread_index");
extern const uint3 blockIdx __asm__("warpwright_block_index");
extern const uint3 blockDim __asm__("warpwright_block_extent");
extern const uint3 gridDim __asm__("warpwright_grid_extent");
constexpr int warpSize = 32;

namespace warpwright {
[[noreturn]] void unsupported(const char* name);
}

namespace warpwright::emulated {

// Position of this thread.
extern const unsigned thread_number __asm__("warpwright_thread_number");
inline unsigned lane() { return thread_number & 31u; }
inline unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

// Memory that is not to be checked, or has been.
void copy(void* target, const void* source, size_t bytes);
template <class T>
T peek(const void* address) {
  T value;
  copy(&value, address, sizeof(T));
  return value;
}
template <class T>
void poke(void* address, const T& value) {
  copy(address, &value, sizeof(T));
}

enum class Access : uint8_t { READ, WRITE, ATOMIC, VOLATILE_READ, VOLATILE_WRITE, ATOMIC_READ, ATOMIC_WRITE };
// The scope of an atomic access, and whether it acquires what others have published; otherwise the next fence does.
struct Strength {
  bool block_only = false;
  bool acquires = true;
};
// Checks an access that the compiler does not report itself.
void touch(const void* address, size_t bytes, Access access, Strength strength = {});

// Block-wide barriers. `members` is 0 for the whole block.
enum class Vote : uint8_t { NONE, COUNT, ALL, ANY };
int barrier(int line, Vote vote = Vote::NONE, int predicate = 0, unsigned name = 0, unsigned members = 0);
void barrier_arrive(unsigned name, unsigned members);
void grid_barrier(int line);

// Clusters: blocks that run together. A launch without any is one of clusters of one block.
void cluster_barrier(int line);
unsigned cluster_rank();
unsigned cluster_blocks();
void* in_cluster(const void* mine, unsigned rank);

// Warp-wide operations: lanes leave a payload, and when all of the mask are there one combination serves them all.
using Payloads = void* const[32];
using Combine = void (*)(Payloads& payloads, unsigned present, unsigned mask);
enum class Kind : uint8_t {
  SYNC,
  SHUFFLE,
  SHUFFLE_UP,
  SHUFFLE_DOWN,
  SHUFFLE_XOR,
  VOTE,
  MATCH_ANY,
  MATCH_ALL,
  REDUCE,
  ACTIVE,
  MATRIX
};
void collective(Kind kind, unsigned mask, Combine combine, void* payload, int line);
// The result of a shuffle from an inactive lane: a recognisable garbage value.
void inactive_lane();

enum class Fence : uint8_t { BLOCK, DEVICE };
void fence(Fence scope);
// One turn of a loop that waits for other threads.
void poll();
long long ticks();
unsigned long long global_timer();
[[noreturn]] void trap(const char* kind, const char* message);
// Whether this is device code; else the host code is being recorded.
bool in_kernel();

// Shared memory. A slot is the identity of a variable; it remembers where the current launch has put it.
struct Slot {
  uint64_t launch = 0;
  uint64_t offset = 0;
};
void* place(Slot* slot, size_t bytes, size_t alignment, const char* name);
void* dynamic_place(size_t alignment);
size_t dynamic_bytes();
unsigned shared_address(const void* pointer);
void* shared_pointer(unsigned address);

// Asynchronous copies: the data is read now and written when the thread waits for it.
void async_copy(void* shared, const void* global, size_t bytes, size_t valid);
void async_commit();
// What one of `threads` copies of a stretch that they copy together, element by element or in pieces of 16 bytes.
inline void copy_share(size_t thread, size_t threads, void* target, const void* source, size_t bytes, size_t element) {
  const size_t piece = element < 16 ? element : 16;
  for (size_t at = thread * piece; at < bytes; at += threads * piece) {
    const size_t wanted = bytes - at < piece ? bytes - at : piece;
    async_copy(static_cast<char*>(target) + at, static_cast<const char*>(source) + at, wanted, wanted);
  }
}
void async_wait(unsigned pending_groups);

void count_flops(uint64_t flops);

}  // namespace warpwright::emulated

#endif
