// expect: sealed | host-limit
// task: modern/swiglu  dtypes: fp32  attack: a static destructor that never finishes; it may stop nothing that was already recorded
#include <torch/extension.h>

struct Clinger {
  volatile bool on = true;
  ~Clinger() {
    while (on) {
    }
  }
};
static Clinger clinger;

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
