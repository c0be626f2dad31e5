// task: paper/mnist_linear_relu  dtypes: fp32  style: torch::nn::functional beside a kernel of its own, torch::NoGradGuard, at::Tensor by const reference
#include <torch/torch.h>
#include <torch/extension.h>

namespace F = torch::nn::functional;

__global__ void add_row(float* __restrict__ y, const float* __restrict__ bias, int64_t total, int64_t columns) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < total; i += stride)
    y[i] += bias[i % columns];
}

at::Tensor linear_relu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  torch::NoGradGuard no_grad;
  at::Tensor y = F::linear(x, weight);
  const int64_t total = y.numel();
  const unsigned blocks = static_cast<unsigned>(std::min<int64_t>(1024, (total + 255) / 256));
  add_row<<<blocks, 256>>>(y.data_ptr<float>(), bias.data_ptr<float>(), total, bias.size(0));
  return F::relu(y);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &linear_relu, py::arg("x"), py::arg("weight"), py::arg("bias")); }
