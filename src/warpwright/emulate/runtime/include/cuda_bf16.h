// __nv_bfloat16 and __nv_bfloat162 with device meaning.
#ifndef WARPWRIGHT_CUDA_BF16_H
#define WARPWRIGHT_CUDA_BF16_H

#include "warpwright/emulated/small_float.h"

WARPWRIGHT_SMALL_STRUCT(__nv_bfloat16, __nv_bfloat162, BFloat16Bits)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
WARPWRIGHT_SMALL_FUNCTIONS(__nv_bfloat16, __nv_bfloat162, BFloat16Bits)
WARPWRIGHT_SMALL_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16)

#endif
