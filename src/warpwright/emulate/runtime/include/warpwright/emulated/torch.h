// Names of torch with another meaning in device code than in host code.
#ifndef WARPWRIGHT_EMULATED_TORCH_H
#define WARPWRIGHT_EMULATED_TORCH_H

#include <cassert>

#undef CUDA_KERNEL_ASSERT
#undef CUDA_KERNEL_ASSERT_MSG
#define CUDA_KERNEL_ASSERT(...) assert(__VA_ARGS__)
#define CUDA_KERNEL_ASSERT_MSG(CONDITION, MESSAGE) assert(CONDITION)

#endif
