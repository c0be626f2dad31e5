// Undefines the CUDA keywords that our own headers use as macros, so that the front finds them in
// the candidate's text.
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
