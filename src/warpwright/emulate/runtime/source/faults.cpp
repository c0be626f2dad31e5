#include "faults.h"

#include <signal.h>
#include <unistd.h>

#include "machine.h"

namespace warpwright::emulated {

void give_up(const char* outcome, const std::string& what) {
  Machine::current().ending = {outcome, what};
  siglongjmp(fault_landing(), 1);
}

void stop(const char* kind, const char* message) {
  Machine& machine = Machine::current();
  if (!machine.in_kernel()) _exit(139);
  Finding finding;
  finding.kind = kind;
  finding.message = message;
  machine.report(std::move(finding));
  give_up("stopped", kind);
}

namespace {

void on_tick(int, siginfo_t*, void* context) { look_at_silence(*static_cast<const ucontext_t*>(context)); }

void on_signal(int number, siginfo_t* info, void*) {
  Machine& machine = Machine::current();
  const uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (number == SIGFPE) stop("division", "an integer is divided by zero");
  if (number == SIGSEGV && machine.arena.back_page(address)) return;
  if (machine.in_kernel() && address - (hot.stack - Stacks::GUARD) < 2 * Stacks::GUARD)
    give_up("unsupported", "more than 256 KiB of local memory in one thread");
  stop("fault", "the access faults");
}

}  // namespace

sigjmp_buf& fault_landing() {
  static sigjmp_buf landing;
  return landing;
}

void catch_faults() {
  static char stack[1 << 16];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(number, &action, nullptr);
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(SIGVTALRM, &action, nullptr);
  keep_time();
}

}  // namespace warpwright::emulated
