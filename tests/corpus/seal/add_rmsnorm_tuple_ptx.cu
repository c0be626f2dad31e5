// task: modern/add_rmsnorm  dtypes: fp32  style: inline PTX loads (ld.global.nc) and stores, returns std::tuple
#include <torch/extension.h>
#include <tuple>

__device__ __forceinline__ float load_nc(const float* p) {
  float v;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}

__device__ __forceinline__ void store_cs(float* p, float v) { asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory"); }

__global__ void add_rmsnorm_kernel(const float* x, const float* residual, const float* weight, float* normed, float* total,
                                   int D, float eps) {
  const size_t base = (size_t)blockIdx.x * D;
  float ss = 0.f;
  for (int i = threadIdx.x; i < D; i += blockDim.x) {
    const float t = load_nc(x + base + i) + load_nc(residual + base + i);
    total[base + i] = t;
    ss += t * t;
  }
  __shared__ float sums[8];
  for (int o = 16; o; o >>= 1) ss += __shfl_xor_sync(0xffffffff, ss, o);
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = ss;
  __syncthreads();
  ss = sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
  const float scale = rsqrtf(ss / D + eps);
  for (int i = threadIdx.x; i < D; i += blockDim.x) store_cs(normed + base + i, total[base + i] * scale * load_nc(weight + i));
}

std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x, torch::Tensor residual, torch::Tensor weight, double eps) {
  auto normed = torch::empty_like(x);
  auto total = torch::empty_like(x);
  const int D = x.size(-1);
  add_rmsnorm_kernel<<<x.numel() / D, 256>>>(x.data_ptr<float>(), residual.data_ptr<float>(), weight.data_ptr<float>(),
                                             normed.data_ptr<float>(), total.data_ptr<float>(), D, eps);
  return {normed, total};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "residual add and RMSNorm"); }
