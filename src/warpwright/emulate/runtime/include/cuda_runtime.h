// cuda_runtime.h with device meaning: the host part unchanged, the device keywords implemented.
#ifndef WARPWRIGHT_CUDA_RUNTIME_H
#define WARPWRIGHT_CUDA_RUNTIME_H

#include <cuda_words.h>

#include "device_words.h"

#include <cuda_runtime_api.h>
#include <vector_types.h>

#endif
