// Schedules the threads of a block: each runs until it waits, and continues when its wait is over.
#include <algorithm>

#include "machine.h"
#include "../../../seal/recorder/recorder.h"

extern "C" {
uint3 warpwright_thread_index, warpwright_block_index;
unsigned warpwright_thread_number;
}

namespace warpwright::emulated {
namespace {

constexpr unsigned PATIENCE = 4;  // passes over threads that wait in loops before their block is set aside

}  // namespace

uint64_t Machine::changes() const {
  uint64_t writes = 0;
  for (auto& space : counters.accesses) writes += space[static_cast<int>(Traffic::WRITE)];
  return progress + writes;
}

Machine::Result Machine::proceed(Block& block) {
  block_ = &block;
  warpwright_block_index = block.index;
  if (owners_.back().second != block.number) owners_.emplace_back(next_segment, block.number);
  Standstill standstill;
  for (unsigned idle = 0;;) {
    const uint64_t before = all_progress(), unchanged = changes();
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
      idle = all_progress() == before ? idle + 1 : 0;
      if (idle >= PATIENCE) return Result::STUCK;
      // Waiting threads may reach a common operation in their loop.
      if (!idle && changes() == unchanged && standstill.is_proved(state_of(block))) return Result::STUCK;
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
    if (arena.meets(reinterpret_cast<uintptr_t>(thread.stack), Stacks::BYTES)) throw Taken();
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

void Machine::out_of_steps(const Glimpse& glimpse) {
  if (!proof_.running()) proof_.begin();
  hot.steps_left = 1;
  glimpse_ = glimpse;
  wait(State::READY);
}

// Inspects a thread that was stopped while ready, and returns whether it may continue.
bool Machine::looked_at(Thread& thread) {
  const std::string_view stack = thread.in_use();
  const Proof::Answer answer =
      stack.empty() ? Proof::Answer::GIVEN_UP
                    : proof_.look(glimpse_, std::to_string(thread_).append(stack), progress + meetings_);
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

void Machine::flush_trace(unsigned warp) {
  std::vector<Touch>* lanes[32] = {};
  for (unsigned i = 0; i < 32 && warp * 32 + i < block_->threads.size(); ++i)
    lanes[i] = &block_->threads[warp * 32 + i].trace;
  counters.add(lanes);
}

}  // namespace warpwright::emulated
