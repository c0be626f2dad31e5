// The host's stand-in for cuda_runtime.h, which nvcc includes in front of every file.
#ifndef WARPWRIGHT_CUDA_RUNTIME_H
#define WARPWRIGHT_CUDA_RUNTIME_H

#include "cuda_words.h"

#include "cuda_runtime_api.h"
#include "device_words.h"
#include "vector_types.h"

#endif
