// Loops that touch no memory but the thread's own, so that no access is counted and no step is used up. The processor's
// clock interrupts them: the same registers and the same stack twice, with nothing done in between, are a proof.
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include "faults.h"
#include "machine.h"

namespace warpwright::emulated {
namespace {

constexpr int TICK = 10'000, PATIENCE = 50, MOST = 2'000;  // microseconds; ticks until the first look, and until the last
constexpr unsigned KEPT = 64;

struct Snapshot {
  uintptr_t place = 0;
  uint64_t first = 0, second = 0;
};

int quiet = 0;
int64_t steps = 0;
uint64_t active = 0;
Snapshot seen[KEPT];

void add(Snapshot& state, const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (const auto* end = at + bytes; at != end; ++at) {
    state.first = (state.first ^ *at) * 0x100000001b3;
    state.second = (state.second + *at + 1) * 0x9e3779b97f4a7c15;
  }
}

#if defined(__x86_64__)
uintptr_t stack_pointer(const ucontext_t& context) {
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
}

Snapshot registers(const ucontext_t& context) {
  Snapshot state;
  state.place = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  add(state, context.uc_mcontext.gregs, (REG_EFL + 1) * sizeof(greg_t));
  if (context.uc_mcontext.fpregs) add(state, context.uc_mcontext.fpregs->_xmm, sizeof context.uc_mcontext.fpregs->_xmm);
  return state;
}
constexpr size_t BELOW = 128;  // of the stack pointer, which functions that call none may use
#elif defined(__aarch64__)
uintptr_t stack_pointer(const ucontext_t& context) { return context.uc_mcontext.sp; }

Snapshot registers(const ucontext_t& context) {
  Snapshot state;
  state.place = context.uc_mcontext.pc;
  add(state, context.uc_mcontext.regs, sizeof context.uc_mcontext.regs);
  add(state, context.uc_mcontext.__reserved, 528);  // the vector registers, which the kernel puts first
  return state;
}
constexpr size_t BELOW = 0;
#else
uintptr_t stack_pointer(const ucontext_t&) { return 0; }
Snapshot registers(const ucontext_t&) { return {}; }
constexpr size_t BELOW = 0;
#endif

bool has_been_here(const Snapshot& now) {
  Snapshot& kept = seen[now.place % KEPT];
  const bool same = kept.place == now.place && kept.first == now.first && kept.second == now.second;
  kept = now;
  return same;
}

}  // namespace

void look_at_silence(const ucontext_t& context) {
  Machine& machine = Machine::current();
  const uintptr_t top = stack_pointer(context), end = hot.stack + Stacks::BYTES;
  if (!machine.in_kernel() || hot.stack == 0 || top < hot.stack + BELOW || top >= end) return;
  if (steps != hot.steps_left || active != machine.activity()) {
    steps = hot.steps_left, active = machine.activity(), quiet = 0;
    for (Snapshot& state : seen) state = {};
    return;
  }
  if (++quiet < PATIENCE) return;
  if (quiet > MOST) give_up("budget", machine.launch->kernel);
  Snapshot now = registers(context);
  add(now, reinterpret_cast<const void*>(top - BELOW), end - (top - BELOW));
  if (has_been_here(now)) stop("hang", "a loop never ends: nothing has changed when the thread comes here again");
}

void keep_time() {
  const itimerval every{{0, TICK}, {0, TICK}};
  setitimer(ITIMER_VIRTUAL, &every, nullptr);
}

}  // namespace warpwright::emulated
