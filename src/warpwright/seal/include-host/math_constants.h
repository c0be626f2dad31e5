// CUDA's constants, for host code that uses them.
#ifndef WARPWRIGHT_MATH_CONSTANTS_H
#define WARPWRIGHT_MATH_CONSTANTS_H

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931
#define CUDART_SQRT_2 1.4142135623730951
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define CUDART_L2E 1.4426950408889634
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f

#endif
