// The regular families of operations, each listed once: tensor.h declares the methods, operations.h the functions and
// the recorder defines both from these lists.
#ifndef WARPWRIGHT_FAMILIES_H
#define WARPWRIGHT_FAMILIES_H

// Unary operations that keep the shape. X(name, result): result is the type for integer inputs.
#define WARPWRIGHT_UNARY_METHODS(X)                                                                              \
  X(abs, SAME) X(neg, SAME) X(negative, SAME) X(sign, SAME) X(square, SAME) X(floor, SAME) X(ceil, SAME)         \
  X(round, SAME) X(trunc, SAME) X(relu, SAME) X(bitwise_not, SAME) X(exp, FLOAT) X(exp2, FLOAT)                  \
  X(expm1, FLOAT) X(log, FLOAT) X(log2, FLOAT) X(log10, FLOAT) X(log1p, FLOAT) X(sqrt, FLOAT) X(rsqrt, FLOAT)    \
  X(reciprocal, FLOAT) X(sin, FLOAT) X(cos, FLOAT) X(tan, FLOAT) X(asin, FLOAT) X(acos, FLOAT) X(atan, FLOAT)    \
  X(sinh, FLOAT) X(cosh, FLOAT) X(tanh, FLOAT) X(erf, FLOAT) X(erfc, FLOAT) X(erfinv, FLOAT)                     \
  X(sigmoid, FLOAT) X(frac, SAME) X(lgamma, FLOAT) X(logical_not, BOOL)

// torch offers these as functions only.
#define WARPWRIGHT_UNARY_FUNCTIONS(X) \
  X(silu, SAME) X(mish, SAME) X(selu, SAME) X(relu6, SAME) X(hardswish, SAME) X(hardsigmoid, SAME) X(log_sigmoid, SAME)

#define WARPWRIGHT_UNARY_TESTS(X) X(isnan) X(isinf) X(isfinite)

// Two operands, broadcast. X(name, result)
#define WARPWRIGHT_COMPARISONS(X) X(eq, ==) X(ne, !=) X(lt, <) X(le, <=) X(gt, >) X(ge, >=)
#define WARPWRIGHT_LOGICAL(X) X(logical_and) X(logical_or) X(logical_xor)
#define WARPWRIGHT_BITWISE(X) X(bitwise_and, &) X(bitwise_or, |) X(bitwise_xor, ^)
#define WARPWRIGHT_PAIRWISE(X) X(maximum) X(minimum) X(fmax) X(fmin) X(atan2)

#endif
