// Signals of the processor, which come when a finding has been made already or when the checker could not see it.
#ifndef WARPWRIGHT_EMULATE_FAULTS_H
#define WARPWRIGHT_EMULATE_FAULTS_H

#include <csetjmp>

namespace warpwright::emulated {

// Where control goes when a kernel cannot go on.
sigjmp_buf& fault_landing();
void catch_faults();

}  // namespace warpwright::emulated

#endif
