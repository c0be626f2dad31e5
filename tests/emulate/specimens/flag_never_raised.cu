// task: modern/softmax  dtypes: fp32  planted: hang
#include <torch/extension.h>

#define THREADS 64

__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (size_t)blockIdx.x * cols;
  __shared__ volatile int ready;
  __shared__ volatile float total;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  float largest = -INFINITY, sum = 0.f;
  for (int c = 0; c < cols; ++c) largest = fmaxf(largest, in[c]);
  if (threadIdx.x == 32) {
    for (int c = 0; c < cols; ++c) sum += expf(in[c] - largest);
    total = sum;
    __threadfence_block();
    // Rows of odd length were forgotten.
    if (cols % 2 == 0) ready = 1;
  }
  while (threadIdx.x < 32 && ready == 0) {
  }
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += 64) y[(size_t)blockIdx.x * cols + c] = expf(in[c] - largest) / total;
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int rows = x.size(0), cols = x.size(1);
  softmax<<<rows, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
