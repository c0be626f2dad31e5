// task: modern/swiglu  dtypes: fp32  planted: out of bounds
#include <torch/extension.h>

__global__ void swiglu(const float* gate, const float* up, float* out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  // The neighbour of the last element is not there.
  if (i < n) out[i] = gate[i] / (1.f + expf(-gate[i])) * up[i] + 0.f * fminf(fmaxf(up[i + 1], 0.f), 1.f);
}

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  auto out = torch::empty_like(gate);
  const int64_t n = gate.numel();
  swiglu<<<(n + 255) / 256, 256>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
