// task: modern/add_rmsnorm  dtypes: fp32  style: at::cuda::OptionalCUDAGuard, at::cuda::getCurrentCUDAStream().stream(), std::vector of tensors in and out, warp helpers as device lambdas
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

#include <vector>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

__global__ void add_then_norm(const float* __restrict__ x, const float* __restrict__ residual,
                              const float* __restrict__ weight, float* __restrict__ normed, float* __restrict__ total,
                              const int columns, const float eps) {
  auto over_warp = [](float v) {
#pragma unroll
    for (int lane = 16; lane >= 1; lane >>= 1) v += __shfl_xor_sync(0xffffffff, v, lane);
    return v;
  };
  __shared__ float per_warp[8];
  const size_t base = static_cast<size_t>(blockIdx.x) * columns;
  float square = 0.f;
  for (int c = threadIdx.x; c < columns; c += 256) {
    const float s = x[base + c] + residual[base + c];
    total[base + c] = s;
    square += s * s;
  }
  square = over_warp(square);
  if ((threadIdx.x & 31) == 0) per_warp[threadIdx.x >> 5] = square;
  __syncthreads();
  const float all = over_warp(threadIdx.x % 32 < 8 ? per_warp[threadIdx.x % 32] : 0.f);
  const float scale = rsqrtf(all / columns + eps);
  for (int c = threadIdx.x; c < columns; c += 256) normed[base + c] = total[base + c] * scale * weight[c];
}

std::vector<torch::Tensor> forward(torch::Tensor x, torch::Tensor residual, torch::Tensor weight, double eps) {
  CHECK_INPUT(x);
  CHECK_INPUT(residual);
  CHECK_INPUT(weight);
  const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
  std::vector<torch::Tensor> results;
  results.reserve(2);
  for (int i = 0; i < 2; ++i) results.push_back(torch::empty_like(x));
  const dim3 grid(x.size(0)), block(256);
  add_then_norm<<<grid, block, 0, at::cuda::getCurrentCUDAStream().stream()>>>(
      x.data_ptr<float>(), residual.data_ptr<float>(), weight.data_ptr<float>(), results[0].data_ptr<float>(),
      results[1].data_ptr<float>(), static_cast<int>(x.size(1)), static_cast<float>(eps));
  AT_CUDA_CHECK(cudaGetLastError());
  return results;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "add, then rms norm (CUDA)"); }
