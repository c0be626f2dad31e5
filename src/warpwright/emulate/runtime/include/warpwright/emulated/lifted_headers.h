// Headers of the toolkit and of torch whose floats are lifted numbers: they are read with other words for float.
#ifndef WARPWRIGHT_EMULATED_LIFTED_HEADERS_H
#define WARPWRIGHT_EMULATED_LIFTED_HEADERS_H

#include "warpwright/emulated/lifted.h"

#include <cuda_runtime.h>
#include <warpwright/half_bits.h>

#define WARPWRIGHT_NO_HALF
#include <warpwright/standard.h>
#undef WARPWRIGHT_NO_HALF

#include "warpwright/emulated/lifted_functions.h"

#define WARPWRIGHT_CODEC(BITS) warpwright::lifted::BITS
#define WARPWRIGHT_SMALL_CODEC(BITS) warpwright::lifted::BITS
#define float ::warpwright::lifted::Real
#define float2 ::warpwright::lifted::Real2
#define float4 ::warpwright::lifted::Real4
#define double ::warpwright::lifted::Wide
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <mma.h>
#include <warpwright/half.h>
#undef float
#undef float2
#undef float4
#undef double

#endif
