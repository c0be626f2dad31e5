// expect: compile | compile-limit
// task: modern/swiglu  dtypes: fp32  attack: templates that double at each of forty levels
#include <torch/extension.h>

template <unsigned long long Path, int Depth>
struct Bomb {
  static constexpr unsigned long long value = Bomb<2 * Path, Depth - 1>::value + Bomb<2 * Path + 1, Depth - 1>::value;
};
template <unsigned long long Path>
struct Bomb<Path, 0> {
  static constexpr unsigned long long value = Path;
};
static_assert(Bomb<1, 40>::value != 0, "never reached");

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
