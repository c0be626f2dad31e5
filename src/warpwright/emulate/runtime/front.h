// The precompiled header of candidates: everything that a candidate may include, with device meaning.
#ifdef WARPWRIGHT_LIFTED
#define WARPWRIGHT_FLOAT ::warpwright::lifted::Real
#define WARPWRIGHT_DOUBLE ::warpwright::lifted::Wide
#include "warpwright/emulated/lifted_headers.h"
#endif

#include "warpwright/emulated/device.h"

#include <warpwright/capture.h>

#include "warpwright/emulated/launch.h"
#include "warpwright/emulated/torch.h"
#ifdef WARPWRIGHT_LIFTED
#include "warpwright/emulated/lifted_arguments.h"
#endif

#include <warpwright/words_taken_away.h>

#ifdef __clang__
#undef __has_feature  // hides the instrumentation from candidates
#endif
