// task: modern/softmax:backward  dtypes: fp32, fp16, bf16  style: __restrict__ const everywhere, accumulate type by at::acc_type, __shfl_down_sync with width, template over the block
#include <ATen/AccumulateType.h>
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

template <typename scalar_t, typename accscalar_t, int kThreads>
__global__ void backward_rows(const scalar_t* const __restrict__ grad, const scalar_t* const __restrict__ y,
                              scalar_t* const __restrict__ grad_x, const int columns) {
  const int64_t base = static_cast<int64_t>(blockIdx.x) * columns;
  accscalar_t dot = 0;
  for (int c = threadIdx.x; c < columns; c += kThreads)
    dot += static_cast<accscalar_t>(grad[base + c]) * static_cast<accscalar_t>(y[base + c]);
  for (int offset = 16; offset; offset >>= 1) dot += __shfl_down_sync(0xffffffffu, dot, offset, 32);
  __shared__ accscalar_t warps[kThreads / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = dot;
  __syncthreads();
  if (threadIdx.x == 0) {
    accscalar_t all = 0;
#pragma unroll
    for (int w = 0; w < kThreads / 32; ++w) all += warps[w];
    warps[0] = all;
  }
  __syncthreads();
  const accscalar_t all = warps[0];
  for (int c = threadIdx.x; c < columns; c += kThreads)
    grad_x[base + c] = static_cast<scalar_t>((static_cast<accscalar_t>(grad[base + c]) - all) * static_cast<accscalar_t>(y[base + c]));
}

torch::Tensor backward(torch::Tensor grad, torch::Tensor y, torch::Tensor x) {
  grad = grad.contiguous();
  auto grad_x = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "softmax_backward", [&] {
    using accscalar_t = at::acc_type<scalar_t, true>;
    backward_rows<scalar_t, accscalar_t, 128><<<x.size(0), 128, 0, at::cuda::getCurrentCUDAStream().stream()>>>(
        grad.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), grad_x.data_ptr<scalar_t>(), static_cast<int>(x.size(1)));
  });
  return grad_x;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
