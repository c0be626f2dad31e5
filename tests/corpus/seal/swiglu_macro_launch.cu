// task: modern/swiglu  dtypes: fp32, fp16, bf16  style: a macro that launches for each dtype by hand, if/else on scalar_type, data_ptr cast to CUDA types
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/extension.h>

__device__ inline float to_float(float v) { return v; }
__device__ inline float to_float(__half v) { return __half2float(v); }
__device__ inline float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }
__device__ inline void assign(float& to, float v) { to = v; }
__device__ inline void assign(__half& to, float v) { to = __float2half_rn(v); }
__device__ inline void assign(__nv_bfloat16& to, float v) { to = __float2bfloat16_rn(v); }

template <typename T>
__global__ void swiglu_any(const T* gate, const T* up, T* out, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float g = to_float(gate[i]);
  assign(out[i], g / (1.f + expf(-g)) * to_float(up[i]));
}

#define GRID(n) dim3(((n) + 511) / 512)
#define LAUNCH(DTYPE, CTYPE)                                                                                  \
  if (gate.scalar_type() == at::ScalarType::DTYPE) {                                                          \
    swiglu_any<CTYPE><<<GRID(n), dim3(512)>>>(static_cast<const CTYPE*>(gate.data_ptr()),                     \
                                              static_cast<const CTYPE*>(up.data_ptr()),                       \
                                              static_cast<CTYPE*>(out.data_ptr()), n);                        \
    return out;                                                                                               \
  }

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  auto out = torch::empty_like(gate);
  const size_t n = gate.numel();
  LAUNCH(Float, float)
  LAUNCH(Half, __half)
  LAUNCH(BFloat16, __nv_bfloat16)
  AT_ERROR("unsupported dtype");
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
