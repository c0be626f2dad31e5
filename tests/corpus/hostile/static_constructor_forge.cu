// expect: host-exit | trace
// task: modern/swiglu  dtypes: fp32  attack: forges records before main, then leaves
#include <torch/extension.h>
#include <cstring>
#include <unistd.h>

struct Forger {
  Forger() {
    const char* line = "{\"outcome\": \"captured\", \"nodes\": [], \"returns\": []}\n";
    for (int descriptor = 0; descriptor < 1024; ++descriptor)
      if (write(descriptor, line, std::strlen(line)) < 0) continue;
    _exit(0);
  }
};
static const Forger forger;

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
