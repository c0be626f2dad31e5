"""The torch and cuBLAS operations that host code may call, by the recorder's names.

Our headers offer the first list to C++; Python code also reaches the second, the kernels that torch's functions consist
of.

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
_KERNELS_OF_PYTHON = """
_adaptive_avg_pool2d _adaptive_avg_pool3d _cdist_forward _fused_rms_norm _log_softmax _native_batch_norm_legit
_native_batch_norm_legit.no_stats _native_batch_norm_legit_no_training _pdist_forward _prelu_kernel _safe_softmax
_softmax _trilinear _unique2 _upsample_nearest_exact2d acosh adaptive_max_pool2d adaptive_max_pool3d addbmm addmv
addr aminmax arange asinh atanh binary_cross_entropy binary_cross_entropy_with_logits bitwise_left_shift.Tensor
bitwise_right_shift.Tensor bucketize.Tensor celu clamp.Tensor clamp_max clamp_max.Tensor clamp_min clamp_min.Tensor
col2im convolution copysign.Scalar copysign.Tensor count_nonzero count_nonzero.dim_IntList cummax cummin digamma
div.Scalar_mode div.Tensor_mode fill.Scalar floor_divide floor_divide.Scalar grid_sampler_2d grid_sampler_3d
gru.input hardshrink heaviside histc huber_loss hypot im2col index_put index_copy index_fill.int_Scalar
isin.Tensor_Tensor l1_loss lerp.Tensor linalg_cross linalg_vector_norm log_sigmoid_forward logaddexp logaddexp2
logcumsumexp logit lstm.input masked_fill.Tensor masked_scatter max_pool2d_with_indices max_pool3d_with_indices
median median.dim mode mse_loss multi_margin_loss nan_to_num nansum native_batch_norm native_group_norm
native_layer_norm nll_loss2d_forward nll_loss_forward permute pixel_shuffle pixel_unshuffle polar pow.Scalar put
reflection_pad1d reflection_pad2d reflection_pad3d renorm replication_pad1d replication_pad2d replication_pad3d
rnn_relu.input rnn_tanh.input rot90 rsub.Scalar rsub.Tensor scatter.src scatter.value scatter_reduce.two
searchsorted.Tensor select_scatter sgn sigmoid_backward signbit sinc slice_scatter smooth_l1_loss soft_margin_loss
softshrink sort.stable std_mean.correction take threshold trace triangular_solve unfold upsample_bicubic2d
upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d
var_mean.dim where.Scalar xlogy.Tensor
"""
OPERATIONS = frozenset((_NAMES + _KERNELS_OF_PYTHON).split())
