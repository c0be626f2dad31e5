// The contents of torch/extension.h.
#ifndef WARPWRIGHT_TORCH_H
#define WARPWRIGHT_TORCH_H

#include "warpwright/accumulate.h"
#include "warpwright/dispatch.h"
#include "warpwright/functional.h"
#include "warpwright/library.h"
#include "warpwright/operations.h"
#include "warpwright/pybind.h"
#include "warpwright/recorded.h"
#include "warpwright/stream.h"

#define AT_CUDA_ENABLED() 1
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 8
#define TORCH_VERSION_PATCH 0
#define TORCH_VERSION "2.8.0"

#endif
