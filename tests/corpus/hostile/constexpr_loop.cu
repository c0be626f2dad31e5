// expect: compile | compile-limit
// task: modern/swiglu  dtypes: fp32  attack: a constant expression that runs for ever
#include <torch/extension.h>

constexpr unsigned long long spin() {
  unsigned long long i = 1;
  while (i != 0) i = i * 6364136223846793005ull + 1442695040888963407ull;
  return i;
}
static_assert(spin() == 0, "never reached");

__global__ void swiglu(const float* gate, const float* up, float* out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = gate[i] / (1.f + expf(-gate[i])) * up[i];
}

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  auto out = torch::empty_like(gate);
  swiglu<<<(gate.numel() + 255) / 256, 256>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), gate.numel());
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
