// The precompiled header of candidates: everything that a candidate may include, with device meaning.
#include "warpwright/emulated/device.h"

#include <warpwright/capture.h>

#include "warpwright/emulated/launch.h"
#include "warpwright/emulated/torch.h"

#include <warpwright/words_taken_away.h>

#ifdef __clang__
#undef __has_feature  // hides the instrumentation from candidates
#endif
