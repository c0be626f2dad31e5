// task: paper/layernorm  dtypes: fp32  style: nested generic lambdas that turn run-time sizes into std::integral_constant, launch inside the innermost
#include <torch/extension.h>

#include <type_traits>

template <int kBlock>
__global__ void normalise(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                          float* __restrict__ y, int64_t n, float eps) {
  static_assert(kBlock % 32 == 0 && kBlock <= 1024, "whole warps");
  __shared__ float2 shared[kBlock];
  const float* row = x + blockIdx.x * n;
  float2 moments = make_float2(0.f, 0.f);
  for (int64_t i = threadIdx.x; i < n; i += kBlock) moments.x += row[i];
  auto all = [&](float value, auto pick) {
    pick(shared[threadIdx.x]) = value;
    __syncthreads();
    for (int half = kBlock / 2; half > 0; half >>= 1) {
      if (threadIdx.x < half) pick(shared[threadIdx.x]) += pick(shared[threadIdx.x + half]);
      __syncthreads();
    }
    return pick(shared[0]);
  };
  const float mean = all(moments.x, [](float2& v) -> float& { return v.x; }) / n;
  for (int64_t i = threadIdx.x; i < n; i += kBlock) moments.y += (row[i] - mean) * (row[i] - mean);
  const float rstd = rsqrtf(all(moments.y, [](float2& v) -> float& { return v.y; }) / n + eps);
  for (int64_t i = threadIdx.x; i < n; i += kBlock) y[blockIdx.x * n + i] = (row[i] - mean) * rstd * weight[i] + bias[i];
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
  auto y = torch::empty_like(x);
  const int64_t n = weight.numel();
  auto with_block = [n](auto&& then) {
    if (n <= 64) return then(std::integral_constant<int, 64>{});
    if (n <= 1024) return then(std::integral_constant<int, 256>{});
    return then(std::integral_constant<int, 512>{});
  };
  with_block([&](auto block) {
    auto launch = [&](int64_t rows) {
      constexpr int kBlock = decltype(block)::value;
      normalise<kBlock><<<static_cast<unsigned>(rows), kBlock>>>(x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(),
                                                                 y.data_ptr<float>(), n, static_cast<float>(eps));
    };
    launch(x.size(0));
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
