// task: modern/cross_entropy  dtypes: fp32, fp16, bf16  style: online log-sum-exp over a large row, block size by rows, c10::optional argument with a default
#include <torch/extension.h>
#include <c10/util/Optional.h>
#include <ATen/cuda/CUDAContext.h>

struct __align__(8) Running {
  float m, d;
};

__device__ __forceinline__ Running combine(Running a, Running b) {
  const bool a_larger = a.m > b.m;
  const Running big = a_larger ? a : b, small = a_larger ? b : a;
  return {big.m, big.d + (small.d > 0.f ? small.d * expf(small.m - big.m) : 0.f)};
}

template <typename scalar_t>
__global__ void token_losses(const scalar_t* __restrict__ logits, const int64_t* __restrict__ targets, float* __restrict__ losses,
                             int64_t vocabulary) {
  const scalar_t* row = logits + blockIdx.x * vocabulary;
  Running state{-INFINITY, 0.f};
  for (int64_t i = threadIdx.x; i < vocabulary; i += blockDim.x) state = combine(state, {(float)row[i], 1.f});
  __shared__ Running parts[32];
  for (int o = 16; o > 0; o >>= 1)
    state = combine(state, {__shfl_xor_sync(0xffffffff, state.m, o), __shfl_xor_sync(0xffffffff, state.d, o)});
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = state;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) state = combine(state, parts[w]);
    losses[blockIdx.x] = state.m + logf(state.d) - (float)row[targets[blockIdx.x]];
  }
}

__global__ void average(const float* in, float* out, int64_t n) {
  double total = 0;
  for (int64_t i = threadIdx.x; i < n; i += 32) total += in[i];
  for (int o = 16; o > 0; o >>= 1) total += __shfl_down_sync(0xffffffff, total, o);
  if (threadIdx.x == 0) *out = float(total / n);
}

torch::Tensor forward(torch::Tensor logits, torch::Tensor targets, c10::optional<torch::Tensor> out = c10::nullopt) {
  const int64_t tokens = logits.size(0), vocabulary = logits.size(1);
  auto options = logits.options().dtype(at::kFloat);
  torch::Tensor loss = out.has_value() ? out.value() : torch::empty({}, options);
  torch::Tensor losses = torch::empty({tokens}, options);
  const int threads = vocabulary >= 1024 ? 1024 : 128;
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, logits.scalar_type(), "token_losses", [&] {
    token_losses<scalar_t><<<tokens, threads, 0, stream>>>(logits.data_ptr<scalar_t>(), targets.data_ptr<int64_t>(),
                                                           losses.data_ptr<float>(), vocabulary);
  });
  average<<<1, 32, 0, stream>>>(losses.data_ptr<float>(), loss.data_ptr<float>(), tokens);
  return loss;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, py::arg("logits"), py::arg("targets"), py::arg("out") = py::none());
}
