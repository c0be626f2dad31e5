// The keywords that CUDA adds to C++, for an ordinary compiler.
//
// The front drops device bodies before this compiler reads them; what is left of device code are signatures. So most
// words vanish. The macros that tell a source it is being compiled as CUDA are defined here too.
#ifndef WARPWRIGHT_CUDA_WORDS_H
#define WARPWRIGHT_CUDA_WORDS_H

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

#define __global__ __attribute__((noinline, used))
#define __device__
#define __host__
#define __shared__ static
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __forceinline__ inline
#define __inline__ inline
#define __noinline__
#define __device_builtin__
#define __align__(N) __attribute__((aligned(N)))
#define __builtin_align__(N) __attribute__((aligned(N)))
#define CUDART_CB

#endif
