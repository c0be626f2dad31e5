// task: paper/llama_rmsnorm  dtypes: fp32, bf16  style: TORCH_LIBRARY with a schema, TORCH_LIBRARY_IMPL for CUDA, REGISTER_EXTENSION left out, c10 namespaces spelt in full
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

namespace {
constexpr int kThreads = 128;

template <typename scalar_t>
__global__ void __launch_bounds__(kThreads) rms(const scalar_t* __restrict__ x, const scalar_t* __restrict__ w,
                                                scalar_t* __restrict__ y, const int64_t d, const float eps) {
  __shared__ float parts[kThreads];
  const scalar_t* __restrict__ row = x + blockIdx.x * d;
  float sum = 0.f;
  for (int64_t i = threadIdx.x; i < d; i += kThreads) {
    const float v = static_cast<float>(row[i]);
    sum = fmaf(v, v, sum);
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll 7
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) parts[threadIdx.x] += parts[threadIdx.x + step];
    __syncthreads();
  }
  const float scale = rsqrtf(parts[0] / static_cast<float>(d) + eps);
  for (int64_t i = threadIdx.x; i < d; i += kThreads)
    y[blockIdx.x * d + i] = static_cast<scalar_t>(static_cast<float>(row[i]) * scale * static_cast<float>(w[i]));
}

at::Tensor rms_norm_cuda(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const c10::cuda::CUDAGuard guard(x.device());
  at::Tensor out = at::empty_like(x);
  const int64_t d = x.size(-1);
  AT_DISPATCH_FLOATING_TYPES_AND(c10::ScalarType::BFloat16, x.scalar_type(), "rms_norm_cuda", [&]() {
    rms<scalar_t><<<x.numel() / d, kThreads, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(
        x.const_data_ptr<scalar_t>(), weight.const_data_ptr<scalar_t>(), out.mutable_data_ptr<scalar_t>(), d,
        static_cast<float>(eps));
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
}  // namespace

TORCH_LIBRARY(corpus_norms, m) { m.def("forward(Tensor x, Tensor weight, float eps) -> Tensor"); }
TORCH_LIBRARY_IMPL(corpus_norms, CUDA, m) { m.impl("forward", &rms_norm_cuda); }
