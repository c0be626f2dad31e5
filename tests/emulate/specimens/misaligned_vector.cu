// task: modern/swiglu  dtypes: fp32  planted: misaligned
#include <torch/extension.h>

__global__ void swiglu(const float* gate, const float* up, float* out, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  // Rows of four begin one element late.
  if (i == 0) out[0] = gate[i] / (1.f + expf(-gate[i])) * up[i];
  if (4 * i + 4 < n) {
    const float4 g = *(const float4*)(gate + 1 + 4 * i), u = *(const float4*)(up + 1 + 4 * i);
    out[4 * i + 1] = g.x / (1.f + expf(-g.x)) * u.x;
    out[4 * i + 2] = g.y / (1.f + expf(-g.y)) * u.y;
    out[4 * i + 3] = g.z / (1.f + expf(-g.z)) * u.z;
    out[4 * i + 4] = g.w / (1.f + expf(-g.w)) * u.w;
  }
  const int64_t tail = (n - 1) / 4 * 4 + 1 + i;
  if (i < 4 && tail < n) out[tail] = gate[tail] / (1.f + expf(-gate[tail])) * up[tail];
}

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  auto out = torch::empty_like(gate);
  const int64_t n = gate.numel();
  swiglu<<<(n + 255) / 256, 256>>>(gate.data_ptr<float>(), up.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
