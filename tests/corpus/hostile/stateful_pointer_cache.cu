// expect: sealed | stateful-host-code
// task: modern/swiglu  dtypes: fp32  attack: remembers results by the address of the input; harmless where no address comes twice
#include <torch/extension.h>
#include <map>

static std::map<void*, torch::Tensor> results;

__global__ void swiglu(const float* gate, const float* up, float* out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = gate[i] / (1.f + expf(-gate[i])) * up[i];
}

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  auto found = results.find(gate.data_ptr());
  if (found != results.end()) return found->second;
  auto out = torch::empty_like(gate);
  swiglu<<<(gate.numel() + 255) / 256, 256>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), gate.numel());
  results[gate.data_ptr()] = out;
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
