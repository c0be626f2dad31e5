// task: paper/mnist_linear:backward  dtypes: fp32, fp16, bf16  style: torch::matmul for two gradients, a kernel with shared memory for the third, std::array in host code
#include <torch/extension.h>
#include <array>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t, int kRows>
__global__ void bias_gradient(const scalar_t* __restrict__ grad, scalar_t* __restrict__ out, int B, int O) {
  __shared__ float parts[kRows][32];
  const int column = blockIdx.x * 32 + threadIdx.x;
  float acc = 0.f;
  if (column < O)
    for (int row = threadIdx.y; row < B; row += kRows) acc += static_cast<float>(grad[row * O + column]);
  parts[threadIdx.y][threadIdx.x] = acc;
  __syncthreads();
  if (threadIdx.y == 0 && column < O) {
    for (int r = 1; r < kRows; ++r) acc += parts[r][threadIdx.x];
    out[column] = static_cast<scalar_t>(acc);
  }
}

std::array<torch::Tensor, 2> products(const torch::Tensor& grad, const torch::Tensor& x, const torch::Tensor& weight) {
  return {torch::matmul(grad, weight), torch::matmul(grad.t(), x)};
}

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> backward(torch::Tensor grad_y, torch::Tensor x, torch::Tensor weight,
                                                                 torch::Tensor bias) {
  grad_y = grad_y.contiguous();
  auto [dx, dw] = products(grad_y, x, weight);
  auto db = torch::empty_like(bias);
  const int B = grad_y.size(0), O = grad_y.size(1);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, grad_y.scalar_type(), "bias_gradient", [&] {
    bias_gradient<scalar_t, 8><<<(O + 31) / 32, dim3(32, 8), 0, at::cuda::getCurrentCUDAStream()>>>(
        grad_y.data_ptr<scalar_t>(), db.data_ptr<scalar_t>(), B, O);
  });
  return std::make_tuple(dx, dw, db);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
