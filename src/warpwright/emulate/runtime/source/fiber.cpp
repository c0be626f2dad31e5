#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <stdexcept>

#ifndef WARPWRIGHT_UCONTEXT
extern "C" void warpwright_enter();
#endif

// Callee-saved registers go on the stack that is left, and come from the stack that is entered.
#if defined(__x86_64__)
__asm__(R"(
.text
.globl warpwright_change
.type warpwright_change, @function
warpwright_change:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size warpwright_change, .-warpwright_change
.globl warpwright_enter
.type warpwright_enter, @function
warpwright_enter:
  xorl %ebp, %ebp
  callq *%rbx
  ud2
.size warpwright_enter, .-warpwright_enter
)");
#elif defined(__aarch64__)
__asm__(R"(
.text
.globl warpwright_change
.type warpwright_change, %function
warpwright_change:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.globl warpwright_enter
.type warpwright_enter, %function
warpwright_enter:
  blr x19
  brk #0
)");
#endif

namespace warpwright::emulated {

#if defined(__x86_64__)
void Context::prepare(char* stack, size_t bytes, void (*entry)()) {
  auto** top = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(stack + bytes) & ~uintptr_t(15));
  *--top = nullptr;  // keeps the stack aligned as a call would find it
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(warpwright_enter);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);  // rbx
  for (int i = 0; i < 4; ++i) *--top = nullptr;
  saved_ = top;
}
#elif defined(__aarch64__)
void Context::prepare(char* stack, size_t bytes, void (*entry)()) {
  auto** top = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(stack + bytes) & ~uintptr_t(15)) - 20;
  for (int i = 0; i < 20; ++i) top[i] = nullptr;
  top[0] = reinterpret_cast<void*>(entry);
  top[11] = reinterpret_cast<void*>(warpwright_enter);
  saved_ = top;
}
#endif

#ifdef WARPWRIGHT_UCONTEXT
void Context::prepare(char* stack, size_t bytes, void (*entry)()) {
  getcontext(&saved_);
  saved_.uc_stack.ss_sp = stack;
  saved_.uc_stack.ss_size = bytes;
  saved_.uc_link = nullptr;
  makecontext(&saved_, entry, 0);
}
#endif

// Many at a time, because the kernel limits the number of mappings; an overflow meets the guard of the lowest or the
// far end of a neighbour that is larger than any frame we know of.
char* Stacks::take() {
  constexpr size_t AT_ONCE = 32;
  if (free_.empty()) {
    void* memory =
        mmap(nullptr, AT_ONCE * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no address space for the stacks of this many threads");
    mprotect(memory, GUARD, PROT_NONE);
    for (size_t i = AT_ONCE; i-- > 0;) free_.push_back(static_cast<char*>(memory) + i * BYTES);
  }
  char* stack = free_.back();
  free_.pop_back();
  return stack;
}

}  // namespace warpwright::emulated
