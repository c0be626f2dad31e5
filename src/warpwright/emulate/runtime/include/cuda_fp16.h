// __half and __half2 with device meaning.
#ifndef WARPWRIGHT_CUDA_FP16_H
#define WARPWRIGHT_CUDA_FP16_H

#include "warpwright/emulated/small_float.h"

WARPWRIGHT_SMALL_STRUCT(__half, __half2, HalfBits)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
WARPWRIGHT_SMALL_FUNCTIONS(__half, __half2, HalfBits)
WARPWRIGHT_SMALL_CONVERSIONS(__half, __half2, half)

#endif
