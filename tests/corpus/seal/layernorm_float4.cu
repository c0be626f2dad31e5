// task: paper/layernorm  dtypes: fp32  style: float4 where alignment allows, scalar kernel otherwise, chosen by a bool template parameter and if constexpr
#include <torch/extension.h>
#include <cstdint>

template <bool kVector>
__global__ void __launch_bounds__(256) layernorm_vec(const float* __restrict__ x, const float* __restrict__ gamma,
                                                     const float* __restrict__ beta, float* __restrict__ y, int n, float eps) {
  __shared__ float warp_sums[8];
  const float* row = x + (size_t)blockIdx.x * n;
  float* out = y + (size_t)blockIdx.x * n;

  auto total = [&](float v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) warp_sums[threadIdx.x >> 5] = v;
    __syncthreads();
    float s = 0.f;
    for (int i = 0; i < 8; ++i) s += warp_sums[i];
    return s;
  };

  float s = 0.f;
  if constexpr (kVector) {
    const float4* row4 = reinterpret_cast<const float4*>(row);
    for (int i = threadIdx.x; i < n / 4; i += 256) {
      const float4 v = row4[i];
      s += (v.x + v.y) + (v.z + v.w);
    }
  } else {
    for (int i = threadIdx.x; i < n; i += 256) s += row[i];
  }
  const float mean = total(s) / n;

  float q = 0.f;
  for (int i = threadIdx.x; i < n; i += 256) q += (row[i] - mean) * (row[i] - mean);
  const float rstd = rsqrtf(total(q) / n + eps);

  if constexpr (kVector) {
    const float4* row4 = reinterpret_cast<const float4*>(row);
    const float4* g4 = reinterpret_cast<const float4*>(gamma);
    const float4* b4 = reinterpret_cast<const float4*>(beta);
    for (int i = threadIdx.x; i < n / 4; i += 256) {
      const float4 v = row4[i], g = g4[i], b = b4[i];
      reinterpret_cast<float4*>(out)[i] =
          make_float4((v.x - mean) * rstd * g.x + b.x, (v.y - mean) * rstd * g.y + b.y,
                      (v.z - mean) * rstd * g.z + b.z, (v.w - mean) * rstd * g.w + b.w);
    }
  } else {
    for (int i = threadIdx.x; i < n; i += 256) out[i] = (row[i] - mean) * rstd * gamma[i] + beta[i];
  }
}

static bool aligned16(const torch::Tensor& t) { return reinterpret_cast<std::uintptr_t>(t.data_ptr()) % 16 == 0; }

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, float eps) {
  auto y = torch::empty_like(x);
  const int n = weight.numel();
  const dim3 grid(x.numel() / n);
  const bool vector = n % 4 == 0 && aligned16(x) && aligned16(weight) && aligned16(bias) && aligned16(y);
  auto launch = vector ? layernorm_vec<true> : layernorm_vec<false>;
  launch<<<grid, 256>>>(x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), n, eps);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
