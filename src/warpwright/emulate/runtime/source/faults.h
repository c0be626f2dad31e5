// Signals of the processor, which come when a finding has been made already or when the checker could not see it.
#ifndef WARPWRIGHT_EMULATE_FAULTS_H
#define WARPWRIGHT_EMULATE_FAULTS_H

#include <ucontext.h>

#include <csetjmp>
#include <string>

namespace warpwright::emulated {

// Where control goes when a kernel cannot go on.
sigjmp_buf& fault_landing();
void catch_faults();
// From a handler: the kernel ends with a finding, or without one.
void stop(const char* kind, const char* message);
void give_up(const char* outcome, const std::string& what);

// silent.cpp: whether the interrupted thread is in a loop that never ends.
void look_at_silence(const ucontext_t& context);
void keep_time();

}  // namespace warpwright::emulated

#endif
