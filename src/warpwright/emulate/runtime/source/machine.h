// The machine: a grid of blocks of threads, which run one at a time until they wait for each other.
#ifndef WARPWRIGHT_EMULATE_MACHINE_H
#define WARPWRIGHT_EMULATE_MACHINE_H

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <unordered_map>

#include "counters.h"
#include "endless.h"
#include "fiber.h"
#include "findings.h"
#include "shadow.h"
#include "warpwright/emulated/launch.h"

namespace warpwright::emulated {

// The state that every access reads, in one place. Outside of a kernel the whole address space counts as stack.
struct Hot {
  Stamp stamp = 0;         // the running thread, in its current segment
  Stamp launch_floor = 0;  // what is earlier came before this launch, or before the grid's last barrier
  Stamp first = 0;         // of this block; above all stamps when blocks run interleaved
  Stamp floor = 0;         // of this thread: what its block did earlier is settled
  uintptr_t stack = 0, stack_bytes = ~uintptr_t(0);
  int64_t steps_left = 0;
  uint32_t lane_bit = 0;
  bool tracing = false;
  bool unsettled = false;  // contested writes or an index beyond its array wait to be judged
  Counters* counters = nullptr;
  uintptr_t image = 0, image_bytes = 0;  // constants of the program, when no variables of the device lie among them
};
extern Hot hot;

enum class State : uint8_t { FRESH, READY, POLLING, BARRIER, GRID, COLLECTIVE, DONE };

struct AsyncCopy {
  uintptr_t target;
  size_t bytes;
  uint32_t site;
  unsigned group;
  unsigned char data[16];
};

// The reason why a thread waits.
struct Waiting {
  Kind kind{};
  Vote vote{};
  unsigned mask = 0, name = 0, members = 0;
  int line = 0, predicate = 0, result = 0;
  uint32_t site = 0;
  Combine combine = nullptr;
  void* payload = nullptr;
};

// What a thread has published: everything its block did before `floor`, and its own before `upto`. For other blocks
// that is its own before `upto_far`, and nothing at all where that is 0.
struct Release {
  unsigned block, thread;
  Segment floor, upto, upto_far = 0;
};

struct Thread {
  Context context;
  char* stack = nullptr;
  State state = State::FRESH;
  uint3 index{};
  Segment segment = 0, floor = 0;
  Segment fenced = 0, fenced_far = 0;  // its last fence, and the last that other blocks heed; 0 is never
  unsigned polls = 0, group = 0;
  Waiting waiting;
  std::vector<AsyncCopy> copies;
  std::vector<Release> seen;  // by relaxed accesses: they count from the next fence on
  std::vector<Touch> trace;
  // The stack as far as it is in use, with the registers; empty where those are kept elsewhere.
  std::string_view in_use() const {
    const char* top = context.top();
    return top ? std::string_view(top, static_cast<size_t>(stack + Stacks::usable(stack) - top)) : std::string_view();
  }
};

// The synchronisation state between lanes of a warp. `ordered` counts fences, `met` every common operation.
struct Warp {
  struct Knowledge {
    Segment all = 0;
    bool partial = false;
    std::array<std::array<Segment, 32>, 32> of{};
    void share(unsigned lanes, unsigned live, Segment now);
    bool covers(unsigned lane, unsigned other, Segment segment) const {
      return segment < all || (partial && segment < of[lane][other]);
    }
  };
  Knowledge ordered, met;
};

struct Block {
  unsigned number = 0;
  uint3 index{};
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  unsigned live = 0;
  Segment first = 0;
  unsigned slot = 0;
  Region* shared = nullptr;
  size_t shared_used = 0;
  std::array<unsigned, 16> arrived{};
  std::unordered_map<unsigned, Release> acquired;
};

struct SharedVariable {
  std::string name;
  uint64_t offset, bytes;
};

struct Launch {
  std::string kernel;
  Body body = nullptr;
  std::vector<unsigned char> closure;
  size_t closure_offset = 0;
  const void* argument() const { return closure.data() + closure_offset; }
  const void* code = nullptr;
  dim3 grid, block, cluster;
  size_t dynamic_shared = 0;
  bool cooperative = false;
  int number = 0;
  uint32_t line = 0;  // of the host code, for a kernel that stands for a library's
};

struct Settings {
  enum class Order : uint8_t { FORWARD, REVERSE, SHUFFLED };
  Order order = Order::FORWARD;
  uint64_t seed = 0;
  bool counters = false;
  uint64_t blocks = ~uint64_t(0);
  int64_t steps = int64_t(1) << 40;
  uintptr_t arena = 0;
};

// The reason why a run ended early.
struct Ending {
  std::string outcome, what;
};

class Machine {
 public:
  static Machine& current();

  void begin(const Settings& settings);
  void run(const Launch& launch);
  bool ended() const { return !ending.outcome.empty(); }

  // For the running thread.
  Thread& thread() { return block_->threads[thread_]; }
  Block& block() { return *block_; }
  bool in_kernel() const { return block_ != nullptr; }
  void wait(State state);
  [[noreturn]] void end(const std::string& outcome, const std::string& what);
  // Called when the steps are used up: decides whether the thread is in an infinite loop.
  void out_of_steps(const Glimpse& glimpse);
  void report(Finding finding);
  // The block that made a stamp of this launch.
  unsigned owner(Stamp stamp) const;
  uint3 block_index(unsigned number) const;
  // Blocks of one cluster see each other's shared memory, so that there too the owner of a stamp must be looked up.
  bool clustered() const { return clustered_; }
  bool blocks_waited() const { return interleaved_ && !clustered_; }
  // What a cluster did before its last barrier is in order for all of it.
  Segment cluster_floor() const { return cluster_floor_; }
  unsigned cluster_rank() const;
  void* in_cluster(const void* mine, unsigned rank);
  uint3 thread_index(unsigned number) const;
  void* place(Slot& slot, size_t bytes, size_t alignment, const char* name);
  void* dynamic_place() { return reinterpret_cast<void*>(block_->shared->base + DYNAMIC); }
  const SharedVariable* variable_at(uint64_t offset) const;
  void publish(uintptr_t address);
  void acquire(uintptr_t address, bool at_once);
  void fence(Fence scope);

  static constexpr size_t DYNAMIC = 4096, SHARED_BYTES = 1 << 20;

  Settings settings;
  Arena arena;
  Findings findings;
  Counters counters;
  Ending ending;
  const Launch* launch = nullptr;
  Segment next_segment = 2;
  bool sampled = false;
  uint64_t progress = 0;  // besides writes and meetings
  // Changes whenever a thread does anything that others could notice.
  uint64_t activity() const { return all_progress(); }
  uint64_t static_shared() const { return static_shared_; }

 private:
  enum class Result : uint8_t { FINISHED, WAITING, STUCK };
  uint64_t changes() const;
  uint64_t all_progress() const { return changes() + meetings_; }
  bool within_limits();
  std::vector<unsigned> chosen_blocks();
  void run_blocks(const std::vector<unsigned>& numbers);
  void run_residents(std::vector<std::unique_ptr<Block>>& residents);
  using Blocks = std::span<const std::unique_ptr<Block>>;
  std::string state_of(const Block& block) const;
  std::string state_of(Blocks blocks) const;
  void judge_standstill(Blocks blocks, uint64_t before);
  void stand_still(Blocks blocks);
  Finding placed(Finding finding);
  Finding wait_of(Blocks blocks);
  Result watch(const std::unique_ptr<Block>& block);
  void note_premature(Blocks blocks);
  void run_clusters(const std::vector<unsigned>& numbers);
  void run_cluster(std::vector<std::unique_ptr<Block>>& members);
  void release_cluster(std::vector<std::unique_ptr<Block>>& members);
  unsigned cluster_of(unsigned number) const;
  unsigned rank_in_cluster(unsigned number) const;
  std::unique_ptr<Block> start(unsigned number);
  void finish(std::unique_ptr<Block> block);
  void give_up(Block& block);
  void release_grid(std::vector<std::unique_ptr<Block>>& residents);
  Result proceed(Block& block);
  bool run_warp(unsigned warp);
  bool resume(unsigned thread);
  bool looked_at(Thread& thread);
  bool resolve(unsigned warp, bool force);
  void combine(unsigned warp, unsigned lanes, Waiting& waiting);
  void learn(const Release& release);
  bool release_barriers();
  bool release_whole_barrier();
  void release(unsigned name, const std::vector<unsigned>& members);
  bool force_collectives();
  void prepare_shared(Block& block);
  void lay_out(Block& block, uint64_t offset, uint64_t bytes);
  void flush_trace(unsigned warp);
  std::vector<unsigned> order_of(unsigned count);
  static void enter();

  Context scheduler_;
  Stacks stacks_;
  Block* block_ = nullptr;
  unsigned thread_ = 0;
  bool interleaved_ = false, clustered_ = false;
  Proof proof_;
  Glimpse glimpse_;
  uint64_t meetings_ = 0;  // of threads that went on together: they may all come back to where they were
  Standstill standstill_;
  std::optional<Finding> premature_;  // a wait that only a block which had not begun could end
  Segment cluster_floor_ = 0;
  std::vector<Block*> cluster_;  // of the running block, by rank
  uint64_t launch_id_ = 0;
  uint64_t static_shared_ = 0, next_static_ = 0;
  std::vector<SharedVariable> variables_;
  std::vector<std::pair<Segment, unsigned>> owners_;
  std::unordered_map<uintptr_t, std::vector<Release>> published_;
  std::vector<std::unique_ptr<Block>> spare_;
  std::vector<unsigned> free_slots_;
  unsigned slots_ = 0;
  std::mt19937_64 random_;
};

inline uint64_t volume(const dim3& d) { return static_cast<uint64_t>(d.x) * d.y * d.z; }

// An address in the program file. It fits 32 bits, because programs do.
uint32_t site_of(const void* code);

// check.cpp: what is behind an access that is not plainly in order.
void check(uintptr_t address, size_t bytes, Access access, uint32_t site, Strength strength = {});
// Decides pending checks: contested writes and, before a thread waits, also array indices.
void settle();
void settle_all();
inline void settle_if_any() {
  if (__builtin_expect(hot.unsettled, 0)) settle();
}
inline void settle_all_if_any() {
  if (__builtin_expect(hot.unsettled, 0)) settle_all();
}
// An index beyond its array. Rows of shared arrays are run over on purpose; the access that follows tells.
struct Overrun {
  const char* file;
  uint32_t line;
  int64_t index, extent;
  const char* type;
};
void note_bounds(const Overrun& overrun);

}  // namespace warpwright::emulated

#endif
