// Replaces cuda_runtime.h, which nvcc includes before every file.
#ifndef WARPWRIGHT_CUDA_RUNTIME_H
#define WARPWRIGHT_CUDA_RUNTIME_H

#include "cuda_words.h"

#include "cuda_runtime_api.h"
#include "device_words.h"
#include "vector_types.h"

#endif
