// task: modern/group_norm_silu  dtypes: fp32  style: statistics kernel and apply kernel with scratch views (chunk of one allocation), namespaced constants, static kernels in templates
#include <torch/extension.h>

namespace config {
constexpr int kThreads = 512;
constexpr unsigned kMask = 0xffffffffu;
}  // namespace config

template <int Threads>
static __global__ void statistics(const float* __restrict__ x, float* __restrict__ mean, float* __restrict__ rstd, int count, float eps) {
  __shared__ float lanes[Threads / 32];
  const float* group = x + (int64_t)blockIdx.x * count;
  float value = 0.f, centre = 0.f;
  for (int pass = 0; pass < 2; ++pass) {
    value = 0.f;
    for (int i = threadIdx.x; i < count; i += Threads) {
      const float d = group[i] - centre;
      value += pass == 0 ? d : d * d;
    }
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) value += __shfl_xor_sync(config::kMask, value, o);
    if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.f;
    for (int w = 0; w < Threads / 32; ++w) value += lanes[w];
    value /= count;
    if (pass == 0) centre = value;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = centre;
    rstd[blockIdx.x] = rsqrtf(value + eps);
  }
}

static __global__ void apply(const float* x, const float* weight, const float* bias, const float* mean, const float* rstd, float* y,
                             int64_t total, int channels, int groups, int pixels) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int c = i / pixels % channels;
  const int64_t g = i / pixels / channels * groups + c / (channels / groups);
  const float v = (x[i] - mean[g]) * rstd[g] * weight[c] + bias[c];
  y[i] = v * (1.f / (1.f + expf(-v)));
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int groups, float eps) {
  const int N = x.size(0), C = x.size(1), pixels = x.size(2) * x.size(3);
  auto scratch = torch::empty({2, N * groups}, x.options());
  auto mean = scratch[0], rstd = scratch[1];
  auto y = torch::empty_like(x);
  statistics<config::kThreads><<<N * groups, config::kThreads>>>(x.data_ptr<float>(), mean.data_ptr<float>(), rstd.data_ptr<float>(),
                                                                 C / groups * pixels, eps);
  apply<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), mean.data_ptr<float>(),
                                          rstd.data_ptr<float>(), y.data_ptr<float>(), x.numel(), C, groups, pixels);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "group norm and SiLU"); }
