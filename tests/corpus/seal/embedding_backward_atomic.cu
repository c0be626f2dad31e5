// task: modern/embedding:backward  dtypes: fp32, fp16, bf16  style: fp32 accumulator with atomicAdd, zeros, then Tensor.to(dtype) as a library operation
#include <torch/extension.h>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void scatter_add(const scalar_t* __restrict__ grad, const int64_t* __restrict__ indices, float* __restrict__ sums,
                            int64_t total, int64_t width) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < total) atomicAdd(sums + indices[i / width] * width + i % width, static_cast<float>(grad[i]));
}

torch::Tensor backward(torch::Tensor grad_y, torch::Tensor indices, torch::Tensor weight) {
  auto grad = grad_y.contiguous();
  auto sums = torch::zeros(weight.sizes(), weight.options().dtype(torch::kFloat));
  const int64_t total = grad.numel();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, grad.scalar_type(), "scatter_add", [&] {
    scatter_add<scalar_t><<<(total + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        grad.data_ptr<scalar_t>(), indices.data_ptr<int64_t>(), sums.data_ptr<float>(), total, weight.size(1));
  });
  return sums.to(weight.scalar_type());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
