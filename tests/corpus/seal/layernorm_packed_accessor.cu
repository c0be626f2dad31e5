// task: paper/layernorm  dtypes: fp32  style: packed_accessor32 with RestrictPtrTraits on four and three dimensions, warp per sample
#include <torch/extension.h>

using Image = torch::PackedTensorAccessor32<float, 4, torch::RestrictPtrTraits>;
using Plane = torch::PackedTensorAccessor32<float, 3, torch::RestrictPtrTraits>;

__global__ void layer_norm_accessors(const Image x, const Plane weight, const Plane bias, Image y, float eps) {
  const int b = blockIdx.x;
  const int C = x.size(1), H = x.size(2), W = x.size(3);
  const int total = C * H * W;
  __shared__ float scratch[256];

  float acc = 0;
  for (int i = threadIdx.x; i < total; i += blockDim.x) acc += x[b][i / (H * W)][i / W % H][i % W];
  scratch[threadIdx.x] = acc;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  const float mean = scratch[0] / total;
  __syncthreads();

  acc = 0;
  for (int i = threadIdx.x; i < total; i += blockDim.x) {
    const float d = x[b][i / (H * W)][i / W % H][i % W] - mean;
    acc += d * d;
  }
  scratch[threadIdx.x] = acc;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  const float rstd = 1.0f / sqrtf(scratch[0] / total + eps);

  for (int i = threadIdx.x; i < total; i += blockDim.x) {
    const int c = i / (H * W), h = i / W % H, w = i % W;
    y[b][c][h][w] = (x[b][c][h][w] - mean) * rstd * weight[c][h][w] + bias[c][h][w];
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
  TORCH_CHECK(x.dim() == 4, "expected a batch of images, got ", x.dim(), " dimensions");
  TORCH_CHECK(weight.dim() == 3 && bias.dim() == 3);
  auto y = torch::empty_like(x);
  layer_norm_accessors<<<x.size(0), 256>>>(
      x.packed_accessor32<float, 4, torch::RestrictPtrTraits>(),
      weight.packed_accessor32<float, 3, torch::RestrictPtrTraits>(),
      bias.packed_accessor32<float, 3, torch::RestrictPtrTraits>(),
      y.packed_accessor32<float, 4, torch::RestrictPtrTraits>(), static_cast<float>(eps));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "LayerNorm over (C, H, W)", py::arg("x"), py::arg("weight"), py::arg("bias"), py::arg("eps") = 1e-5);
}
