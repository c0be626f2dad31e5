// task: modern/matmul_small  dtypes: fp32, fp16, bf16  style: one warp per output with a partial mask for the last lanes, __activemask-free, reinterpret of rows
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void warp_dot(const scalar_t* __restrict__ x, const scalar_t* __restrict__ w, scalar_t* __restrict__ y, int M, int N, int K) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= M * N) return;
  const int m = warp / N, n = warp % N;
  float acc = 0.f;
  for (int k = lane; k < K; k += 32) acc += (float)x[(int64_t)m * K + k] * (float)w[(int64_t)n * K + k];
  // Only as many lanes as hold something take part.
  const int active = min(K, 32);
  if (lane < active) {
    const unsigned mask = active == 32 ? 0xffffffffu : (1u << active) - 1;
    for (int d = 16; d > 0; d >>= 1) {
      const float other = __shfl_down_sync(mask, acc, d);
      if (lane + d < active) acc += other;
    }
    if (lane == 0) y[(int64_t)m * N + n] = (scalar_t)acc;
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight) {
  const int M = x.size(0), K = x.size(1), N = weight.size(0);
  auto y = torch::empty({M, N}, x.options());
  const int blocks = ((int64_t)M * N + 7) / 8;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "warp_dot", [&] {
    warp_dot<scalar_t><<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), M, N, K);
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "few rows times a weight"); }
