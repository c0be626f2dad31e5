// expect: stateful-host-code
// task: modern/swiglu  dtypes: fp32  attack: takes its grid from the address of a local variable, which every process has elsewhere
#include <torch/extension.h>
#include <cstdint>

__global__ void swiglu(const float* gate, const float* up, float* out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = gate[i] / (1.f + expf(-gate[i])) * up[i];
}

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  auto out = torch::empty_like(gate);
  int here;
  const unsigned extra = (unsigned)(reinterpret_cast<uintptr_t>(&here) >> 4 & 15);
  swiglu<<<(gate.numel() + 255) / 256 + extra, 256>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), gate.numel());
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
