"""The torch and cuBLAS operations that our headers offer to host code, by the recorder's names.

Host code shares the recorder's process and could write any other name. Some torch operations read and create files, and
plans are executed outside of the sandbox.
"""

from __future__ import annotations

_NAMES = """
abs acos adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d add.Scalar add.Tensor addcdiv addcmul addmm
all all.dim amax amin any any.dim arange.start_step argmax argmin argsort asin atan atan2 avg_pool1d avg_pool2d
avg_pool3d baddbmm batch_norm bitwise_and.Scalar bitwise_and.Tensor bitwise_not bitwise_or.Scalar
bitwise_or.Tensor bitwise_xor.Scalar bitwise_xor.Tensor bmm cat ceil clamp constant_pad_nd conv1d conv2d conv3d
conv_transpose1d conv_transpose2d.input conv_transpose3d.input convolution_backward copy_ cos cosh cublas.gemm
cumprod cumsum div.Scalar div.Tensor dot elu embedding eq.Scalar eq.Tensor erf erfc erfinv exp exp2 expm1 eye
flip floor fmax fmin fmod.Scalar fmod.Tensor frac gather ge.Scalar ge.Tensor gelu glu group_norm gt.Scalar
gt.Tensor hardsigmoid hardswish hardtanh index.Tensor index_add index_select instance_norm isfinite isinf isnan
layer_norm le.Scalar le.Tensor leaky_relu lerp.Scalar lgamma linear linspace log log10 log1p log2 log_sigmoid
log_softmax.int logical_and logical_not logical_or logical_xor logsumexp lt.Scalar lt.Tensor masked_fill.Scalar
matmul max max.dim max_pool1d max_pool2d max_pool3d maximum mean mean.dim min min.dim minimum mish mm mul.Scalar
mul.Tensor mv ne.Scalar ne.Tensor neg negative norm.Scalar norm.ScalarOpt_dim outer pow.Tensor_Scalar
pow.Tensor_Tensor prod prod.dim_int reciprocal relu relu6 remainder.Scalar remainder.Tensor repeat
repeat_interleave.self_int roll round rsqrt scaled_dot_product_attention scatter_add selu sigmoid sign silu sin
sinh softmax.int softplus sort sqrt square stack std.correction sub.Scalar sub.Tensor sum sum.dim_IntList tan
tanh topk tril triu trunc var.correction var_mean.correction where.ScalarOther where.ScalarSelf where.self
"""
OPERATIONS = frozenset(_NAMES.split())
