// The grid: one launch after another, its blocks in their order, and those that wait for each other together.
#include "machine.h"

#include <algorithm>
#include <csetjmp>

#include "faults.h"
#include "../../../seal/recorder/gpu.h"

extern "C" {
dim3 warpwright_block_extent, warpwright_grid_extent;
}

namespace warpwright::emulated {

Hot hot;

namespace {

constexpr uint64_t MOST_THREADS = 1 << 18;  // that may wait at the same time
constexpr uint64_t MOST_BLOCKS = 1 << 26;

uint3 unravel(uint64_t number, const dim3& extent) {
  return {static_cast<unsigned>(number % extent.x), static_cast<unsigned>(number / extent.x % extent.y),
          static_cast<unsigned>(number / extent.x / extent.y)};
}

}  // namespace

uint32_t site_of(const void* code) { return static_cast<uint32_t>(code_of(code)); }

Machine& Machine::current() {
  static Machine* machine = new Machine;  // hooks may be called while statics are destroyed
  return *machine;
}

void Machine::begin(const Settings& wanted) {
  settings = wanted;
  arena.clear();
  findings.clear();
  counters.clear();
  ending = {};
  launch = nullptr;
  block_ = nullptr;
  hot.stack = 0, hot.stack_bytes = ~uintptr_t(0), hot.tracing = false;
  sampled = false;
  slots_ = 0;
  free_slots_.clear();
  random_.seed(wanted.seed);
  hot.steps_left = wanted.steps;
  proof_.clear();
  hot.counters = &counters;
  arena.move(wanted.arena);
}

uint3 Machine::block_index(unsigned number) const { return unravel(number, launch->grid); }
uint3 Machine::thread_index(unsigned number) const { return unravel(number, launch->block); }

unsigned Machine::owner(Stamp stamp) const {
  auto after = std::upper_bound(owners_.begin(), owners_.end(), segment_of(stamp),
                                [](Segment s, const auto& entry) { return s < entry.first; });
  return after == owners_.begin() ? 0 : std::prev(after)->second;
}

void Machine::report(Finding finding) { findings.add(placed(std::move(finding))); }

Finding Machine::placed(Finding finding) {
  finding.kernel = launch ? launch->kernel : "";
  finding.launch = launch ? launch->number : -1;
  if (launch && launch->line) finding.line = launch->line;
  if (block_) {
    finding.block = block_->index;
    finding.thread = thread().index;
  }
  return finding;
}

static bool within(const dim3& extent, const int (&most)[3]) {
  const unsigned extents[] = {extent.x, extent.y, extent.z};
  for (int axis = 0; axis < 3; ++axis)
    if (extents[axis] < 1 || extents[axis] > static_cast<unsigned>(most[axis])) return false;
  return true;
}

bool Machine::within_limits() {
  const dim3 &g = launch->grid, &b = launch->block;
  const cudaDeviceProp& gpu = described_gpu();
  const bool fits = within(b, gpu.maxThreadsDim) && volume(b) <= static_cast<uint64_t>(gpu.maxThreadsPerBlock) &&
                    within(g, gpu.maxGridSize) && launch->dynamic_shared <= gpu.sharedMemPerBlockOptin;
  if (fits) return true;
  Finding finding;
  finding.kind = "launch";
  finding.message = "a launch beyond the limits of the GPU: grid " + triple(g).text() + ", block " + triple(b).text() +
                    ", " + std::to_string(launch->dynamic_shared) + " bytes of dynamic shared memory";
  report(std::move(finding));
  return false;
}

std::vector<unsigned> Machine::order_of(unsigned count) {
  std::vector<unsigned> order(count);
  for (unsigned i = 0; i < count; ++i) order[i] = settings.order == Settings::Order::REVERSE ? count - 1 - i : i;
  if (settings.order == Settings::Order::SHUFFLED)
    for (unsigned i = count; i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
  return order;
}

// A sample has the first and the last block, where the edges are.
std::vector<unsigned> Machine::chosen_blocks() {
  const uint64_t count = volume(launch->grid);
  if (count <= settings.blocks) {
    if (count > MOST_BLOCKS) return ending = {"budget", launch->kernel}, std::vector<unsigned>();
    return order_of(static_cast<unsigned>(count));
  }
  sampled = true;
  std::vector<unsigned> chosen{0, static_cast<unsigned>(count - 1)};
  while (chosen.size() < std::max<uint64_t>(settings.blocks, 2) + 2)
    chosen.push_back(static_cast<unsigned>(random_() % count));
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

void Machine::run(const Launch& wanted) {
  launch = &wanted;
  if (!within_limits()) return;
  ++launch_id_;
  owners_.clear();
  published_.clear();
  premature_.reset();
  standstill_ = {};
  variables_.clear();
  clustered_ = interleaved_ = volume(wanted.cluster) > 1;
  static_shared_ = 0;
  cluster_floor_ = 0;
  next_static_ = DYNAMIC + wanted.dynamic_shared;
  warpwright_grid_extent = wanted.grid;
  warpwright_block_extent = wanted.block;
  hot.launch_floor = first_of(next_segment++);
  const Stamp floor = hot.launch_floor;
  if (sigsetjmp(fault_landing(), 1) == 0) clustered_ ? run_clusters(chosen_blocks()) : run_blocks(chosen_blocks());
  // A hang in every order does not depend on the order.
  if (premature_ && ending.what != "hang") findings.add(std::move(*premature_));
  block_ = nullptr;
  hot.stack = 0, hot.stack_bytes = ~uintptr_t(0), hot.tracing = false;
  settle_if_any();
  for (auto& region : arena.regions())
    if (region->space != Space::SHARED) counters.add_unique(*region, floor);
  launch = nullptr;
}

void Machine::run_blocks(const std::vector<unsigned>& numbers) {
  std::vector<std::unique_ptr<Block>> residents;
  for (unsigned number : numbers) {
    std::unique_ptr<Block> block = start(number);
    Result result = proceed(*block);
    const bool others_to_come = number != numbers.back() && !launch->cooperative;
    if (result == Result::STUCK && residents.empty() && others_to_come) result = watch(block);
    if (ended()) return give_up(*block);
    if (result == Result::FINISHED) {
      finish(std::move(block));
      continue;
    }
    interleaved_ = true;
    residents.push_back(std::move(block));
    if (residents.size() * volume(launch->block) > MOST_THREADS) {
      ending = {"unsupported", "more than 262144 threads that wait for each other"};
      return;
    }
  }
  run_residents(residents);
}

void Machine::run_residents(std::vector<std::unique_ptr<Block>>& residents) {
  while (!residents.empty() && !ended()) {
    const uint64_t before = changes();
    std::vector<std::unique_ptr<Block>> left;
    bool all_at_grid = true;
    for (auto& block : residents) {
      Result result = proceed(*block);
      if (ended()) return;
      all_at_grid &= result != Result::STUCK;
      if (result == Result::FINISHED)
        ++progress, finish(std::move(block));
      else
        left.push_back(std::move(block));
    }
    residents = std::move(left);
    if (residents.empty()) return;
    all_at_grid ? release_grid(residents) : judge_standstill(residents, before);
  }
}

void Machine::release_grid(std::vector<std::unique_ptr<Block>>& residents) {
  hot.launch_floor = first_of(next_segment);
  ++counters.barriers;
  for (auto& block : residents) {
    const Segment now = next_segment++;
    owners_.emplace_back(now, block->number);
    for (Thread& thread : block->threads)
      if (thread.state == State::GRID) thread.state = State::READY, thread.segment = thread.floor = now;
  }
}

std::unique_ptr<Block> Machine::start(unsigned number) {
  std::unique_ptr<Block> block = spare_.empty() ? std::make_unique<Block>() : std::move(spare_.back());
  if (!spare_.empty()) spare_.pop_back();
  const unsigned count = static_cast<unsigned>(volume(launch->block));
  block->number = number;
  block->index = block_index(number);
  block->threads.resize(count);
  block->warps.resize((count + 31) / 32);
  block->live = count;
  block->first = next_segment++;
  block->arrived.fill(0);
  block->acquired.clear();
  owners_.emplace_back(block->first, number);
  for (unsigned i = 0; i < count; ++i) {
    Thread& thread = block->threads[i];
    thread.state = State::FRESH;
    thread.index = thread_index(i);
    thread.segment = thread.floor = block->first;
    thread.fenced = thread.fenced_far = 0;
    thread.seen.clear();
    thread.polls = thread.group = 0;
    thread.copies.clear();
  }
  prepare_shared(*block);
  ++counters.blocks;
  counters.threads += count;
  return block;
}

void Machine::finish(std::unique_ptr<Block> block) {
  free_slots_.push_back(block->slot);
  spare_.push_back(std::move(block));
}

void Machine::give_up(Block& block) {
  for (Thread& thread : block.threads)
    if (thread.stack) stacks_.give(thread.stack), thread.stack = nullptr;
}

}  // namespace warpwright::emulated
