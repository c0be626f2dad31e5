// Everything a candidate may include, with device meaning, precompiled. The words of CUDA serve our own headers as
// macros and are then taken away, so that the front meets them in the candidate's text.
#include "warpwright/emulated/device.h"

#include <warpwright/capture.h>

#include "warpwright/emulated/launch.h"
#include "warpwright/emulated/torch.h"

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __grid_constant__
#undef __launch_bounds__
#undef __cluster_dims__
#undef __maxnreg__
#undef __block_size__
#undef __forceinline__
#undef __noinline__
#undef __inline__

#ifdef __clang__
#undef __has_feature  // nothing may tell a candidate how it is built here
#endif

// From here on the text is device code first of all.
#define __CUDA_ARCH__ 900
