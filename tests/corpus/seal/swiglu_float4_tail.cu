// task: modern/swiglu  dtypes: fp32  style: float4 body and scalar tail in one kernel, comments and strings that look like launches, #ifdef blocks
#include <torch/extension.h>

// An earlier version read: swiglu<<<grid, block>>>(gate, up, out, n);  // __global__ void swiglu(...)
/* And before that, across lines:
   __global__ void old_swiglu(const float* a) { a<<<1, 1>>>(); }
*/
static const char* kUsage = "launch with swiglu<<<blocks, threads>>>(...) where __global__ void swiglu(float*) is \"ours\"";
static const char* kRaw = R"cuda(__global__ void never(int* p) { never<<<1, 1>>>(p); } // not code)cuda";
static const char kQuote = '"', kOpen = '<';

#ifdef SWIGLU_DOUBLE
typedef double value_t;
#else
typedef float value_t;
#endif

#if 0
__global__ void disabled(int x) { this does not even parse <<< >>> }
#endif

__device__ __forceinline__ value_t silu(value_t x) { return x / (value_t(1) + exp(-x)); }

__global__ void swiglu(const value_t* __restrict__ gate, const value_t* __restrict__ up, value_t* __restrict__ out, int64_t n,
                       int64_t quads) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < quads) {
    const float4 g = ((const float4*)gate)[i], u = ((const float4*)up)[i];
    ((float4*)out)[i] = make_float4(silu(g.x) * u.x, silu(g.y) * u.y, silu(g.z) * u.z, silu(g.w) * u.w);
  }
  const int64_t j = quads * 4 + i;
  if (j < n) out[j] = silu(gate[j]) * up[j];
}

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  TORCH_CHECK(gate.numel() == up.numel(), kUsage, kRaw, kQuote, kOpen);
  auto out = torch::empty_like(gate);
  const int64_t n = gate.numel();
  const auto address = [](const torch::Tensor& t) { return (uintptr_t)t.data_ptr(); };
  const int64_t quads = ((address(gate) | address(up) | address(out)) % 16 == 0) ? n / 4 : 0;
  const int64_t work = quads > 0 ? quads : n;
  swiglu<<<(work + 255) / 256, 256>>>(gate.data_ptr<value_t>(), up.data_ptr<value_t>(), out.data_ptr<value_t>(), n, quads);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "SwiGLU, see swiglu<<<>>> above"); }
