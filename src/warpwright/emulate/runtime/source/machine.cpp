#include "machine.h"

#include <algorithm>
#include <csetjmp>

#include "faults.h"
#include "../../../seal/recorder/recorder.h"

extern "C" {
uint3 warpwright_thread_index, warpwright_block_index;
dim3 warpwright_block_extent, warpwright_grid_extent;
unsigned warpwright_thread_number;
}

namespace warpwright::emulated {

Hot hot;

namespace {

constexpr unsigned PATIENCE = 4;            // passes over threads that wait in loops before their block is set aside
constexpr uint64_t MOST_THREADS = 1 << 18;  // that may wait at the same time
constexpr uint64_t MOST_BLOCKS = 1 << 26;

uint64_t volume(const dim3& d) { return static_cast<uint64_t>(d.x) * d.y * d.z; }

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

void Machine::report(Finding finding) {
  finding.kernel = launch ? launch->kernel : "";
  finding.launch = launch ? launch->number : -1;
  if (block_) {
    finding.block = block_->index;
    finding.thread = thread().index;
  }
  findings.add(std::move(finding));
}

bool Machine::within_limits() {
  const dim3 &g = launch->grid, &b = launch->block;
  const bool fits = b.x >= 1 && b.y >= 1 && b.z >= 1 && b.x <= 1024 && b.y <= 1024 && b.z <= 64 && volume(b) <= 1024 &&
                    g.x >= 1 && g.y >= 1 && g.z >= 1 && g.x <= 0x7fffffffu && g.y <= 65535 && g.z <= 65535 &&
                    launch->dynamic_shared <= 232448;
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
    const uint64_t before = all_progress();
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
    if (all_at_grid) {
      release_grid(residents);
    } else if (all_progress() == before) {
      report_hang(*residents[0]);
    }
  }
}

void Machine::report_hang(Block& block) {
  Finding finding;
  finding.kind = "hang";
  finding.message = "threads wait in a loop for memory that nobody will change";
  for (unsigned i = 0; i < block.threads.size(); ++i)
    if (block.threads[i].state == State::POLLING) {
      finding.site = block.threads[i].waiting.site;
      block_ = &block, thread_ = i;
      break;
    }
  report(std::move(finding));
  ending = {"stopped", "hang"};
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
    thread.fenced = false;
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

uint64_t Machine::all_progress() const {
  uint64_t writes = 0;
  for (auto& space : counters.accesses) writes += space[static_cast<int>(Traffic::WRITE)];
  return progress + writes;
}

Machine::Result Machine::proceed(Block& block) {
  block_ = &block;
  warpwright_block_index = block.index;
  if (owners_.back().second != block.number) owners_.emplace_back(next_segment, block.number);
  for (unsigned idle = 0;;) {
    const uint64_t before = all_progress();
    for (Thread& thread : block.threads)
      if (thread.state == State::POLLING) thread.state = State::READY;
    for (unsigned warp : order_of(static_cast<unsigned>(block.warps.size()))) {
      run_warp(warp);
      if (ended()) return Result::FINISHED;
    }
    if (block.live == 0) return Result::FINISHED;
    if (release_barriers()) continue;
    unsigned polling = 0, at_grid = 0;
    for (Thread& thread : block.threads)
      polling += thread.state == State::POLLING, at_grid += thread.state == State::GRID;
    if (polling) {
      if (all_progress() != before)
        idle = 0;
      else if (++idle >= PATIENCE)
        return Result::STUCK;
      continue;
    }
    if (at_grid == block.live) return Result::WAITING;
    if (force_collectives()) continue;
    Finding finding;
    finding.kind = "hang";
    finding.message = "threads wait for others that will never come";
    report(std::move(finding));
    ending = {"stopped", "hang"};
    return Result::FINISHED;
  }
}

bool Machine::run_warp(unsigned warp) {
  const unsigned first = warp * 32,
                 count = std::min<unsigned>(32, static_cast<unsigned>(block_->threads.size()) - first);
  bool ran = false;
  do {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned lane = settings.order == Settings::Order::REVERSE ? count - 1 - i
                            : settings.order == Settings::Order::SHUFFLED
                                ? (i * 5 + static_cast<unsigned>(settings.seed)) % count
                                : i;
      State state = block_->threads[first + lane].state;
      if (state > State::READY) continue;
      ran |= resume(first + lane);
      if (ended()) return ran;
    }
    if (settings.order == Settings::Order::SHUFFLED)  // the stride may skip lanes of an odd warp
      for (unsigned lane = 0; lane < count; ++lane)
        if (block_->threads[first + lane].state <= State::READY) {
          ran |= resume(first + lane);
          if (ended()) return ran;
        }
    if (settings.counters) flush_trace(warp);
  } while (resolve(warp, false));
  return ran;
}

bool Machine::resume(unsigned number) {
  Thread& thread = block_->threads[number];
  thread_ = number;
  if (thread.state == State::FRESH) {
    thread.stack = stacks_.take();
    thread.context.prepare(thread.stack, Stacks::usable(thread.stack), &Machine::enter);
  }
  thread.state = State::READY;
  warpwright_thread_index = thread.index;
  warpwright_thread_number = number;
  hot.stamp = first_of(thread.segment) | number << 1;
  hot.first = interleaved_ ? ~Stamp(0) : first_of(block_->first);
  hot.floor = interleaved_ ? ~Stamp(0) : first_of(thread.floor);
  hot.lane_bit = 1u << (number & 31);
  hot.stack = reinterpret_cast<uintptr_t>(thread.stack);
  hot.stack_bytes = Stacks::BYTES;
  hot.tracing = settings.counters;
  do Context::change(scheduler_, thread.context);
  while (thread.state == State::READY && looked_at(thread));
  hot.stack = 0, hot.stack_bytes = ~uintptr_t(0), hot.tracing = false;
  if (thread.state == State::DONE && thread.stack) {
    stacks_.give(thread.stack);
    thread.stack = nullptr;
    --block_->live;
  }
  return true;
}

void Machine::out_of_steps(uintptr_t address, size_t bytes, bool writes, uint32_t site) {
  if (!proof_.running()) proof_.begin();
  hot.steps_left = 1;
  glimpse_ = {site, address, writes ? bytes : 0};
  wait(State::READY);
}

// A thread that is still ready has stopped to be looked at. Whether it may go on.
bool Machine::looked_at(Thread& thread) {
  const char* top = thread.context.top();
  const char* end = thread.stack + Stacks::usable(thread.stack);
  const Proof::Answer answer =
      top ? proof_.look(glimpse_, std::to_string(thread_) + std::string(top, end), progress) : Proof::Answer::GIVEN_UP;
  if (answer == Proof::Answer::NOT_YET) return true;
  if (answer == Proof::Answer::GIVEN_UP) return ending = {"budget", launch->kernel}, false;
  Finding finding;
  finding.kind = "hang";
  finding.site = glimpse_.site;
  finding.message = "a loop never ends: nothing has changed when the thread comes here again";
  report(std::move(finding));
  ending = {"stopped", "hang"};
  return false;
}

void Machine::enter() {
  Machine& machine = current();
  try {
    machine.launch->body(machine.launch->argument());
  } catch (const Outcome& outcome) {
    machine.ending = {outcome.kind == "unsupported" ? "unsupported" : "stopped", outcome.subject};
  } catch (const std::exception& error) {
    machine.ending = {"unsupported", error.what()};
  } catch (...) {
    machine.ending = {"unsupported", "an exception in device code"};
  }
  machine.wait(State::DONE);
  __builtin_trap();
}

void Machine::wait(State state) {
  Thread& me = thread();
  me.state = state;
  settle_all_if_any();
  Context::change(me.context, scheduler_);
}

void Machine::end(const std::string& outcome, const std::string& what) {
  ending = {outcome, what};
  wait(State::DONE);
  __builtin_trap();
}

void Machine::meet(Thread& thread, Segment now) {
  thread.segment = now;
  thread.polls = 0;
}

void Machine::flush_trace(unsigned warp) {
  std::vector<Touch>* lanes[32] = {};
  for (unsigned i = 0; i < 32 && warp * 32 + i < block_->threads.size(); ++i)
    lanes[i] = &block_->threads[warp * 32 + i].trace;
  counters.add(lanes);
}

}  // namespace warpwright::emulated
