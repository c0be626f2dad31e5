// task: paper/mnist_conv_relu_pool  dtypes: fp32  style: torch::conv2d for the convolution, ReLU and pooling fused in a kernel of our own
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void relu_pool(const scalar_t* __restrict__ conv, scalar_t* __restrict__ y, int64_t total, int H, int W) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= total) return;
  const int PH = H / 2, PW = W / 2;
  const int pw = i % PW, ph = i / PW % PH;
  const scalar_t* p = conv + (i / (PH * PW) * H + 2 * ph) * W + 2 * pw;
  float v = fmaxf(fmaxf((float)p[0], (float)p[1]), fmaxf((float)p[W], (float)p[W + 1]));
  y[i] = (scalar_t)(v > 0.f ? v : 0.f);
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  auto conv = torch::conv2d(x, weight, bias).contiguous();
  auto y = torch::empty({conv.size(0), conv.size(1), conv.size(2) / 2, conv.size(3) / 2}, x.options());
  const int64_t total = y.numel();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "relu_pool", [&] {
    relu_pool<scalar_t><<<(total + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        conv.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), total, conv.size(2), conv.size(3));
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
