// task: paper/mnist_cross_entropy  dtypes: fp32, fp16, bf16  style: two kernels with scratch, one thread per row, scalar result, TORCH_CHECK on dtypes
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void row_losses(const scalar_t* __restrict__ logits, const int64_t* __restrict__ targets, float* __restrict__ losses,
                           int batch, int classes) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= batch) return;
  const scalar_t* p = logits + (int64_t)row * classes;
  float m = (float)p[0];
  for (int c = 1; c < classes; ++c) m = max(m, (float)p[c]);
  float s = 0.f;
  for (int c = 0; c < classes; ++c) s += expf((float)p[c] - m);
  losses[row] = m + logf(s) - (float)p[targets[row]];
}

__global__ void mean_of(const float* __restrict__ values, float* __restrict__ result, int count) {
  __shared__ float buffer[256];
  float acc = 0.f;
  for (int i = threadIdx.x; i < count; i += 256) acc += values[i];
  buffer[threadIdx.x] = acc;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) *result = buffer[0] / count;
}

torch::Tensor forward(torch::Tensor predictions, torch::Tensor targets) {
  TORCH_CHECK(predictions.dim() == 2, "predictions must be two-dimensional");
  TORCH_CHECK(targets.dtype() == torch::kInt64, "targets must be int64");
  TORCH_CHECK_EQ(predictions.size(0), targets.size(0));
  const int batch = predictions.size(0), classes = predictions.size(1);
  auto floats = predictions.options().dtype(torch::kFloat);
  auto losses = torch::empty({batch}, floats);
  auto loss = torch::empty({}, floats);
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, predictions.scalar_type(), "row_losses", [&] {
    row_losses<scalar_t><<<(batch + 127) / 128, 128, 0, stream>>>(
        predictions.data_ptr<scalar_t>(), targets.data_ptr<int64_t>(), losses.data_ptr<float>(), batch, classes);
  });
  mean_of<<<1, 256, 0, stream>>>(losses.data_ptr<float>(), loss.data_ptr<float>(), batch);
  return loss;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "cross entropy"); }
