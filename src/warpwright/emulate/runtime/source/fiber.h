// A flow of control with its own stack.
#ifndef WARPWRIGHT_EMULATE_FIBER_H
#define WARPWRIGHT_EMULATE_FIBER_H

#include <cstddef>
#include <cstdint>
#include <vector>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#define WARPWRIGHT_UCONTEXT
#else
extern "C" void warpwright_change(void** from, void* to);
#endif

namespace warpwright::emulated {

class Context {
 public:
  // The next switch to it calls entry on the stack; entry never returns.
  void prepare(char* stack, size_t bytes, void (*entry)());
#ifdef WARPWRIGHT_UCONTEXT
  static void change(Context& from, Context& to) { swapcontext(&from.saved_, &to.saved_); }
  const char* top() const { return nullptr; }

 private:
  ucontext_t saved_;
#else
  static void change(Context& from, Context& to) { warpwright_change(&from.saved_, to.saved_); }
  // The lowest byte of the stack that is in use; registers lie there. Null where they are kept elsewhere.
  const char* top() const { return static_cast<const char*>(saved_); }

 private:
  void* saved_ = nullptr;
#endif
};

// Stacks are reused: a thread that never waits leaves its stack to the next one, warm.
class Stacks {
 public:
  static constexpr size_t BYTES = 256 << 10, GUARD = 4096, STAGGER = 9 * 64;
  char* take();
  void give(char* stack) { free_.push_back(stack); }
  // Where a stack begins: not all at the same distance, or their first lines would all want the same few places of the
  // processor's caches, and every change of threads would miss them.
  static size_t usable(const char* stack) {
    return BYTES - (reinterpret_cast<uintptr_t>(stack) / BYTES * STAGGER) % (BYTES / 4);
  }

 private:
  std::vector<char*> free_;
};

}  // namespace warpwright::emulated

#endif
