#include "warpwright/emulated/ptx.h"
#include "../../../seal/recorder/recorder.h"
namespace warpwright::emulated {
void run_ptx(const char* text, PtxOperand*, int, int) { throw Outcome("unsupported", std::string("ptx ") + text, text); }
}
