// task: modern/bias_gelu:backward  dtypes: fp32, fp16, bf16  style: elementwise gradient kernel, then a column reduction with shared memory transposed
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename T>
__global__ void gelu_gradient(const T* __restrict__ grad, const T* __restrict__ x, const T* __restrict__ bias, T* __restrict__ dx,
                              float* __restrict__ dbias_parts, int64_t rows, int d, int rows_per_block) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= d) return;
  const float b = bias[column];
  float sum = 0.f;
  const int64_t first = (int64_t)blockIdx.y * rows_per_block, last = min(first + rows_per_block, rows);
  for (int64_t r = first; r < last; ++r) {
    const float v = (float)x[r * d + column] + b;
    const float cdf = 0.5f * (1.f + erff(v * 0.70710678f));
    const float pdf = 0.39894228f * expf(-0.5f * v * v);
    const float g = (float)grad[r * d + column] * (cdf + v * pdf);
    dx[r * d + column] = (T)g;
    sum += g;
  }
  dbias_parts[(int64_t)blockIdx.y * d + column] = sum;
}

template <typename T>
__global__ void add_parts(const float* __restrict__ parts, T* __restrict__ out, int count, int d) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= d) return;
  float sum = 0.f;
  for (int i = 0; i < count; ++i) sum += parts[(int64_t)i * d + column];
  out[column] = (T)sum;
}

std::vector<torch::Tensor> backward(torch::Tensor grad_y, torch::Tensor x, torch::Tensor bias) {
  auto grad = grad_y.contiguous();
  const int d = bias.numel();
  const int64_t rows = x.numel() / d;
  constexpr int kRows = 64;
  const int chunks = (rows + kRows - 1) / kRows;
  TORCH_CHECK(chunks <= 65535, "too many rows");
  auto dx = torch::empty_like(x), dbias = torch::empty_like(bias);
  auto parts = torch::empty({chunks, d}, x.options().dtype(torch::kFloat32));
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "gelu_gradient", [&] {
    gelu_gradient<scalar_t><<<dim3((d + 127) / 128, chunks), 128, 0, stream>>>(
        grad.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), dx.data_ptr<scalar_t>(),
        parts.data_ptr<float>(), rows, d, kRows);
    add_parts<scalar_t><<<(d + 127) / 128, 128, 0, stream>>>(parts.data_ptr<float>(), dbias.data_ptr<scalar_t>(), chunks, d);
  });
  return {dx, dbias};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
