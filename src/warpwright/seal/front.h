// Everything a capture program may include, precompiled. The words of CUDA serve our own headers as macros and are
// then taken away, so that the front meets them in the candidate's text.
#include <cstddef>
// The special functions of <cmath> would be instantiated anew in every program, at the cost of a small one.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS

#include <warpwright/capture.h>

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
