// task: paper/mnist_pool:backward  dtypes: fp32, fp16, bf16  style: gather instead of atomics, every input pixel looks at the windows that may have chosen it
#include <torch/extension.h>

template <typename scalar_t>
__global__ void pool_backward(const scalar_t* __restrict__ grad, const int64_t* __restrict__ indices, scalar_t* __restrict__ dx,
                              int64_t total, int H, int W, int OH, int OW, int kernel, int stride, int padding) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= total) return;
  const int w = i % W, h = i / W % H;
  const int64_t plane = i / (H * W);
  const int first_oh = max((h + padding - kernel) / stride, 0), last_oh = min((h + padding) / stride, OH - 1);
  const int first_ow = max((w + padding - kernel) / stride, 0), last_ow = min((w + padding) / stride, OW - 1);
  float sum = 0.f;
  for (int oh = first_oh; oh <= last_oh; ++oh)
    for (int ow = first_ow; ow <= last_ow; ++ow) {
      const int64_t o = (plane * OH + oh) * OW + ow;
      if (indices[o] == h * W + w) sum += static_cast<float>(grad[o]);
    }
  dx[i] = static_cast<scalar_t>(sum);
}

torch::Tensor backward(torch::Tensor grad_y, torch::Tensor indices, torch::Tensor x, int64_t kernel_size, int64_t stride,
                       int64_t padding) {
  auto grad = grad_y.contiguous();
  auto dx = torch::empty_like(x);
  const int64_t total = x.numel();
  AT_DISPATCH_FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, x.scalar_type(), "pool_backward", ([&] {
    pool_backward<scalar_t><<<(total + 127) / 128, 128>>>(
        grad.data_ptr<scalar_t>(), indices.data_ptr<int64_t>(), dx.data_ptr<scalar_t>(), total, x.size(2), x.size(3),
        grad.size(2), grad.size(3), kernel_size, stride, padding);
  }));
  return dx;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
