// task: modern/softmax  dtypes: fp32  planted: hang
#include <torch/extension.h>

#define THREADS 32

__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (size_t)blockIdx.x * cols;
  __shared__ float total;
  float largest = -INFINITY, sum = 0.f;
  for (int c = 0; c < cols; ++c) largest = fmaxf(largest, in[c]);
  for (int c = threadIdx.x; c < cols; c += 32) sum += expf(in[c] - largest);
  // In short rows some lanes have nothing to add: they wait below while the others wait for them.
  if (threadIdx.x < cols) {
    for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
    if (threadIdx.x == 0) total = sum;
  }
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += 32) y[(size_t)blockIdx.x * cols + c] = expf(in[c] - largest) / total;
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int rows = x.size(0), cols = x.size(1);
  softmax<<<rows, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
