// A flow of control with its own stack.
#ifndef WARPWRIGHT_EMULATE_FIBER_H
#define WARPWRIGHT_EMULATE_FIBER_H

#include <cstddef>
#include <vector>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#define WARPWRIGHT_UCONTEXT
#endif

namespace warpwright::emulated {

class Context {
 public:
  // The next switch to it calls entry on the stack; entry never returns.
  void prepare(char* stack, size_t bytes, void (*entry)());
  static void change(Context& from, Context& to);

 private:
#ifdef WARPWRIGHT_UCONTEXT
  ucontext_t saved_;
#else
  void* saved_ = nullptr;
#endif
};

// Stacks are reused: a thread that never waits leaves its stack to the next one, warm.
class Stacks {
 public:
  static constexpr size_t BYTES = 256 << 10, GUARD = 4096;
  char* take();
  void give(char* stack) { free_.push_back(stack); }

 private:
  std::vector<char*> free_;
};

}  // namespace warpwright::emulated

#endif
