// Block barriers and warp operations, and the order of accesses that follows from them.
#include <algorithm>
#include <ctime>

#include "machine.h"

namespace warpwright::emulated {

void Warp::Knowledge::share(unsigned lanes, unsigned live, Segment now) {
  if ((lanes & live) == live) {
    all = now;
    return;
  }
  partial = true;
  std::array<Segment, 32> joint{};
  for (unsigned i = 0; i < 32; ++i)
    if (lanes >> i & 1)
      for (unsigned k = 0; k < 32; ++k) joint[k] = std::max(joint[k], of[i][k]);
  for (unsigned k = 0; k < 32; ++k)
    if (lanes >> k & 1) joint[k] = now;
  for (unsigned i = 0; i < 32; ++i)
    if (lanes >> i & 1) of[i] = joint;
}

namespace {

Finding at(const Waiting& waiting, const char* kind, Severity severity, std::string message) {
  Finding finding;
  finding.kind = kind;
  finding.severity = severity;
  finding.site = waiting.site;
  finding.line = static_cast<uint32_t>(waiting.line);
  finding.message = std::move(message);
  return finding;
}

std::string hex_of(unsigned mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

}  // namespace

// Executes a warp operation once all lanes that can arrive have arrived; with `force`, with the lanes present.
bool Machine::resolve(unsigned warp, bool force) {
  Thread* lanes = &block_->threads[warp * 32];
  const unsigned count = std::min<unsigned>(32, static_cast<unsigned>(block_->threads.size()) - warp * 32);
  bool any = false;
  for (unsigned i = 0; i < count; ++i) {
    if (lanes[i].state != State::COLLECTIVE) continue;
    Waiting& mine = lanes[i].waiting;
    unsigned present = 0, live = 0;
    for (unsigned j = 0; j < count; ++j) {
      if (lanes[j].state != State::DONE) live |= 1u << j;
      const Waiting& other = lanes[j].waiting;
      if (lanes[j].state == State::COLLECTIVE && other.kind == mine.kind && other.mask == mine.mask &&
          (mine.kind != Kind::ACTIVE || other.line == mine.line))
        present |= 1u << j;
    }
    const unsigned missing = mine.kind == Kind::ACTIVE ? 0 : mine.mask & live & ~present;
    if (missing && !force) continue;
    thread_ = warp * 32 + i;
    if (missing)
      report(at(mine, "warp-divergence", Severity::FATAL,
                "lanes " + hex_of(missing) + " are named in the mask " + hex_of(mine.mask) +
                    " but never get here: the GPU hangs"));
    if (mine.kind != Kind::ACTIVE && present & ~mine.mask)
      report(at(mine, "mask", Severity::LIKELY,
                "lanes " + hex_of(present & ~mine.mask) + " call with a mask " + hex_of(mine.mask) +
                    " that leaves them out"));
    combine(warp, present, mine);
    any = true;
    if (force) return true;
  }
  return any;
}

void Machine::combine(unsigned warp, unsigned present, Waiting& waiting) {
  Thread* lanes = &block_->threads[warp * 32];
  void* payloads[32] = {};
  unsigned live = 0;
  for (unsigned i = 0; i < 32 && warp * 32 + i < block_->threads.size(); ++i) {
    if (lanes[i].state != State::DONE) live |= 1u << i;
    if (present >> i & 1) payloads[i] = lanes[i].waiting.payload;
  }
  if (waiting.combine) waiting.combine(payloads, present, waiting.mask);
  ++counters.collectives;
  ++meetings_;
  const Segment now = next_segment++;
  for (unsigned i = 0; i < 32; ++i)
    if (present >> i & 1) lanes[i].state = State::READY, lanes[i].segment = now;
  if (waiting.kind == Kind::ACTIVE) return;
  block_->warps[warp].met.share(present, live, now);
  if (waiting.kind == Kind::SYNC) block_->warps[warp].ordered.share(present, live, now);
}

bool Machine::force_collectives() {
  for (unsigned warp = 0; warp < block_->warps.size(); ++warp)
    if (resolve(warp, true)) return true;
  return false;
}

bool Machine::release_barriers() {
  if (release_whole_barrier()) return true;
  std::array<std::vector<unsigned>, 16> waiting;
  for (unsigned i = 0; i < block_->threads.size(); ++i) {
    const Thread& thread = block_->threads[i];
    if (thread.state == State::BARRIER && thread.waiting.members) waiting[thread.waiting.name & 15].push_back(i);
  }
  for (unsigned name = 0; name < 16; ++name) {
    if (waiting[name].empty()) continue;
    const unsigned wanted = block_->threads[waiting[name][0]].waiting.members;
    if (waiting[name].size() + block_->arrived[name] < wanted) continue;
    block_->arrived[name] = 0;
    release(name, waiting[name]);
    return true;
  }
  return false;
}

bool Machine::release_whole_barrier() {
  std::vector<unsigned> members;
  for (unsigned i = 0; i < block_->threads.size(); ++i) {
    const Thread& thread = block_->threads[i];
    if (thread.state == State::DONE) continue;
    if (thread.state != State::BARRIER || thread.waiting.members) return false;
    members.push_back(i);
  }
  if (members.empty()) return false;
  const Waiting& first = block_->threads[members[0]].waiting;
  thread_ = members[0];
  for (unsigned i : members)
    if (block_->threads[i].waiting.line != first.line) {
      Finding finding = at(first, "barrier-divergence", Severity::LIKELY,
                           "threads of one block wait at different barriers, lines " + std::to_string(first.line) +
                               " and " + std::to_string(block_->threads[i].waiting.line));
      finding.other = Party{block_->threads[i].waiting.site, block_->index, block_->threads[i].index, "barrier"};
      report(std::move(finding));
      break;
    }
  if (members.size() < block_->threads.size())
    report(at(first, "barrier-divergence", Severity::TOLERATED,
              "a barrier is passed although " + std::to_string(block_->threads.size() - members.size()) +
                  " threads of the block have exited"));
  release(0, members);
  return true;
}

void Machine::release(unsigned, const std::vector<unsigned>& members) {
  int count = 0;
  for (unsigned i : members) count += block_->threads[i].waiting.predicate != 0;
  const Segment now = next_segment++;
  ++counters.barriers;
  ++meetings_;
  for (unsigned i : members) {
    Thread& thread = block_->threads[i];
    Waiting& waiting = thread.waiting;
    waiting.result = waiting.vote == Vote::COUNT ? count
                     : waiting.vote == Vote::ALL ? count == static_cast<int>(members.size())
                                                 : count != 0;
    thread.state = State::READY;
    thread.segment = thread.floor = now;
  }
}

// What kernels call.

int barrier(int line, Vote vote, int predicate, unsigned name, unsigned members) {
  Machine& machine = Machine::current();
  if (!machine.in_kernel()) unsupported("a barrier in host code");
  Waiting& waiting = machine.thread().waiting;
  waiting.vote = vote, waiting.predicate = predicate, waiting.name = name, waiting.members = members;
  waiting.line = line, waiting.site = site_of(__builtin_return_address(0));
  machine.wait(State::BARRIER);
  return machine.thread().waiting.result;
}

void barrier_arrive(unsigned name, unsigned) {
  Machine& machine = Machine::current();
  ++machine.block().arrived[name & 15];
  ++machine.progress;
}

void grid_barrier(int line) {
  Machine& machine = Machine::current();
  if (machine.clustered()) unsupported("grid.sync() in clusters");
  machine.thread().waiting.line = line;
  machine.thread().waiting.site = site_of(__builtin_return_address(0));
  if (!machine.launch->cooperative) {
    machine.report(at(machine.thread().waiting, "launch", Severity::FATAL,
                      "grid.sync() in a launch that is not cooperative"));
    machine.end("stopped", "launch");
  }
  machine.wait(State::GRID);
}

void collective(Kind kind, unsigned mask, Combine combine, void* payload, int line) {
  Machine& machine = Machine::current();
  if (!machine.in_kernel()) unsupported("a warp's operation in host code");
  Waiting& waiting = machine.thread().waiting;
  waiting.kind = kind, waiting.mask = mask, waiting.combine = combine, waiting.payload = payload;
  waiting.line = line, waiting.site = site_of(__builtin_return_address(0));
  machine.wait(State::COLLECTIVE);
}

void inactive_lane() {
  Machine& machine = Machine::current();
  machine.report(at(machine.thread().waiting, "inactive-lane", Severity::TOLERATED,
                    "a shuffle reads a lane that does not take part; its value is undefined"));
}

bool in_kernel() { return Machine::current().in_kernel(); }

void poll() {
  Machine& machine = Machine::current();
  if (!machine.in_kernel()) return;
  machine.thread().waiting.site = site_of(__builtin_return_address(0));
  machine.wait(State::POLLING);
}

long long ticks() {
  static long long now = 0;
  ++Machine::current().progress;
  return now += 20;
}

unsigned long long global_timer() { return static_cast<unsigned long long>(ticks()); }

void trap(const char* kind, const char* message) {
  Machine& machine = Machine::current();
  if (!machine.in_kernel()) unsupported("a trap in host code");
  Finding finding;
  finding.kind = kind;
  finding.site = site_of(__builtin_return_address(0));
  finding.message = message;
  machine.report(std::move(finding));
  machine.end("stopped", kind);
}

void count_flops(uint64_t flops) { Machine::current().counters.flops += flops; }

}  // namespace warpwright::emulated

// Kernels spell it like the C library's.
extern "C" clock_t clock() noexcept { return static_cast<clock_t>(warpwright::emulated::ticks()); }
