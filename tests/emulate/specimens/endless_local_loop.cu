// task: modern/swiglu  dtypes: fp32  planted: hang
#include <torch/extension.h>

__global__ void swiglu(const float* gate, const float* up, float* out, int64_t n) {
  // Nobody but this thread could ever change it.
  volatile bool waiting = threadIdx.x == 3;
  while (waiting) {
  }
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = gate[i] / (1.f + expf(-gate[i])) * up[i];
}

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  auto out = torch::empty_like(gate);
  const int64_t n = gate.numel();
  swiglu<<<(n + 255) / 256, 256>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
