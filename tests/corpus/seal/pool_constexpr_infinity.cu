// task: paper/mnist_pool  dtypes: fp32, fp16, bf16  style: constexpr infinity in device code, at::_isnan-free NaN rule, int64_t arguments from Python, grid-stride loop macro
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <limits>

#define CUDA_KERNEL_LOOP(i, n) \
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < (n); i += static_cast<int64_t>(blockDim.x) * gridDim.x)

constexpr float kLowest = -std::numeric_limits<float>::infinity();

template <typename scalar_t>
__global__ void max_pool2d_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, int64_t total, int H, int W, int OH,
                                  int OW, int kernel, int stride, int padding) {
  CUDA_KERNEL_LOOP(i, total) {
    const int ow = i % OW, oh = i / OW % OH;
    const scalar_t* plane = x + i / (OW * OH) * H * W;
    const int h0 = oh * stride - padding, w0 = ow * stride - padding;
    float best = kLowest;
    for (int h = max(h0, 0); h < min(h0 + kernel, H); ++h)
      for (int w = max(w0, 0); w < min(w0 + kernel, W); ++w) {
        const float v = static_cast<float>(plane[h * W + w]);
        if (v > best || isnan(v)) best = v;  // once NaN, nothing is larger
      }
    y[i] = static_cast<scalar_t>(best);
  }
}

torch::Tensor forward(torch::Tensor x, int64_t kernel_size, int64_t stride, int64_t padding) {
  TORCH_CHECK(x.dim() == 4, "expected NCHW");
  TORCH_CHECK(2 * padding <= kernel_size, "padding must be at most half of the kernel size");
  const int H = x.size(2), W = x.size(3);
  const int OH = (H + 2 * padding - kernel_size) / stride + 1, OW = (W + 2 * padding - kernel_size) / stride + 1;
  auto y = torch::empty({x.size(0), x.size(1), OH, OW}, x.options());
  const int64_t total = y.numel();
  const int blocks = std::min<int64_t>((total + 255) / 256, 65535);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "max_pool2d", [&] {
    max_pool2d_kernel<scalar_t><<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), total, H, W, OH, OW, kernel_size, stride, padding);
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "max pool 2d"); }
