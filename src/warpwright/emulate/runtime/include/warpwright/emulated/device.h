// Device code: the words, the machine's operations and the toolkit's headers with device meaning.
#ifndef WARPWRIGHT_EMULATED_DEVICE_H
#define WARPWRIGHT_EMULATED_DEVICE_H

#include <cuda_runtime.h>

#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "warpwright/emulated/ptx.h"

#endif
