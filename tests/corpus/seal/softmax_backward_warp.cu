// task: modern/softmax:backward  dtypes: fp32, fp16, bf16  style: backward, non-contiguous gradients made contiguous, unused arguments
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void softmax_backward_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ y,
                                        scalar_t* __restrict__ dx, int64_t rows, int64_t cols) {
    const int64_t row = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    if (row >= rows) return;
    const int64_t base = row * cols;
    float dot = 0.f;
    for (int64_t i = lane; i < cols; i += 32) dot += (float)grad[base + i] * (float)y[base + i];
    for (int mask = 16; mask > 0; mask >>= 1) dot += __shfl_xor_sync(0xffffffff, dot, mask, 32);
    for (int64_t i = lane; i < cols; i += 32)
        dx[base + i] = (scalar_t)(((float)grad[base + i] - dot) * (float)y[base + i]);
}

torch::Tensor backward(torch::Tensor grad_y, torch::Tensor y, torch::Tensor x) {
    TORCH_CHECK(grad_y.sizes() == y.sizes(), "grad and output differ in shape: ", grad_y.sizes(), " and ", y.sizes());
    grad_y = grad_y.contiguous();
    y = y.contiguous();
    auto dx = torch::empty(x.sizes(), x.options());
    const auto cols = y.size(-1);
    const auto rows = y.numel() / cols;
    const int warps = 8;
    AT_DISPATCH_FLOATING_TYPES_AND2(
        torch::kHalf, torch::kBFloat16, y.scalar_type(), "softmax_backward", ([&] {
            softmax_backward_kernel<scalar_t><<<(rows + warps - 1) / warps, warps * 32, 0, at::cuda::getCurrentCUDAStream()>>>(
                grad_y.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), dx.data_ptr<scalar_t>(), rows, cols);
        }));
    return dx;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("backward", &backward, "softmax backward", py::arg("grad_y"), py::arg("y"), py::arg("x"));
}
