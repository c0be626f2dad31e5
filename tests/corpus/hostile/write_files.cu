// expect: exception
// task: modern/swiglu  dtypes: fp32  attack: writes outside its folder and throws the number of files it could write
#include <torch/extension.h>
#include <fstream>
#include <stdexcept>
#include <string>

__global__ void swiglu(const float* gate, const float* up, float* out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = gate[i] / (1.f + expf(-gate[i])) * up[i];
}

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  int written = 0;
  for (const char* path : {"/tmp/warpwright-was-here", "/usr/lib/warpwright-was-here", "/dev/shm/warpwright-was-here", "/etc/ld.so.preload"})
    written += bool(std::ofstream(path) << "x" << std::flush);
  throw std::runtime_error("wrote " + std::to_string(written) + " files");
  auto out = torch::empty_like(gate);
  swiglu<<<(gate.numel() + 255) / 256, 256>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), gate.numel());
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
