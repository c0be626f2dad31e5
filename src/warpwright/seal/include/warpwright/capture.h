// The umbrella that the capture build precompiles: our whole host surface and the recorder.
#ifndef WARPWRIGHT_CAPTURE_H
#define WARPWRIGHT_CAPTURE_H

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "warpwright/cublas.h"
#include "warpwright/record.h"
#include "warpwright/torch.h"

#endif
