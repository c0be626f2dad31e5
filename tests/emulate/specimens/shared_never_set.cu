// task: modern/softmax  dtypes: fp32  planted: uninitialised
#include <torch/extension.h>

#define THREADS 64

__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (size_t)blockIdx.x * cols;
  __shared__ float parts[THREADS];
  float largest = -INFINITY, sum = 0.f;
  for (int c = 0; c < cols; ++c) largest = fmaxf(largest, in[c]);
  for (int c = threadIdx.x; c < cols; c += THREADS) sum += expf(in[c] - largest);
  // Threads beyond the row leave their part as they found it.
  if (threadIdx.x < cols) parts[threadIdx.x] = sum;
  __syncthreads();
  float total = 0.f;
  for (int t = 0; t < THREADS; ++t) total += parts[t];
  for (int c = threadIdx.x; c < cols; c += THREADS) y[(size_t)blockIdx.x * cols + c] = expf(in[c] - largest) / total;
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int rows = x.size(0), cols = x.size(1);
  softmax<<<rows, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
