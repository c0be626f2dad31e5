// task: paper/layernorm:backward  dtypes: fp32, fp16, bf16  style: several kernels, two-stage reduction through scratch, returns std::vector, data_ptr of const and mutable kind
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <vector>

namespace {

constexpr int kThreads = 256;

__device__ float block_total(float v) {
  __shared__ float warps[kThreads / 32];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  float t = 0.f;
  for (int w = 0; w < kThreads / 32; ++w) t += warps[w];
  return t;
}

template <typename T>
__global__ void grad_input(const T* dy, const T* x, const T* weight, const float* mean, const float* rstd, T* dx, int64_t n) {
  const int64_t base = blockIdx.x * n;
  const float mu = mean[blockIdx.x], rs = rstd[blockIdx.x];
  float sum_g = 0.f, sum_gx = 0.f;
  for (int64_t i = threadIdx.x; i < n; i += kThreads) {
    const float g = float(dy[base + i]) * float(weight[i]);
    sum_g += g;
    sum_gx += g * (float(x[base + i]) - mu) * rs;
  }
  const float mean_g = block_total(sum_g) / n;
  const float mean_gx = block_total(sum_gx) / n;
  for (int64_t i = threadIdx.x; i < n; i += kThreads) {
    const float xhat = (float(x[base + i]) - mu) * rs;
    const float g = float(dy[base + i]) * float(weight[i]);
    dx[base + i] = T(rs * (g - mean_g - xhat * mean_gx));
  }
}

template <typename T>
__global__ void grad_parameters(const T* dy, const T* x, const float* mean, const float* rstd, T* dweight, T* dbias,
                                int64_t rows, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  float dw = 0.f, db = 0.f;
  for (int64_t r = 0; r < rows; ++r) {
    const float g = float(dy[r * n + i]);
    dw += g * (float(x[r * n + i]) - mean[r]) * rstd[r];
    db += g;
  }
  dweight[i] = T(dw);
  dbias[i] = T(db);
}

}  // namespace

std::vector<torch::Tensor> backward(torch::Tensor grad_y, torch::Tensor mean, torch::Tensor rstd, torch::Tensor x,
                                    torch::Tensor weight, torch::Tensor bias, double eps) {
  const auto dy = grad_y.contiguous();
  auto dx = torch::empty_like(x);
  auto dweight = torch::empty_like(weight);
  auto dbias = torch::empty_like(bias);
  const int64_t n = weight.numel(), rows = x.numel() / n;
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "layernorm_backward", [&] {
    grad_input<scalar_t><<<rows, kThreads, 0, stream>>>(
        dy.const_data_ptr<scalar_t>(), x.const_data_ptr<scalar_t>(), weight.const_data_ptr<scalar_t>(),
        mean.const_data_ptr<float>(), rstd.const_data_ptr<float>(), dx.mutable_data_ptr<scalar_t>(), n);
    grad_parameters<scalar_t><<<(n + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
        dy.const_data_ptr<scalar_t>(), x.const_data_ptr<scalar_t>(), mean.const_data_ptr<float>(),
        rstd.const_data_ptr<float>(), dweight.mutable_data_ptr<scalar_t>(), dbias.mutable_data_ptr<scalar_t>(), rows, n);
  });
  return {dx, dweight, dbias};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward, "LayerNorm backward"); }
