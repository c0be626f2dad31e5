// Everything a candidate may include, with device meaning, precompiled.
#include "warpwright/emulated/device.h"

#include <warpwright/capture.h>

#include "warpwright/emulated/launch.h"
#include "warpwright/emulated/torch.h"

#include <warpwright/words_taken_away.h>

#ifdef __clang__
#undef __has_feature  // nothing may tell a candidate how it is built here
#endif

// From here on the text is device code first of all.
#define __CUDA_ARCH__ 900
