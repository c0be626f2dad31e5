// task: modern/matmul_small  dtypes: fp32, fp16, bf16  style: a prepare entry that turns the weight once, so that neighbouring threads read neighbouring columns
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

template <typename scalar_t>
__global__ void turn(const scalar_t* __restrict__ weight, scalar_t* __restrict__ turned, int N, int K) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < static_cast<int64_t>(N) * K) turned[i % K * N + i / K] = weight[i];
}

template <typename scalar_t>
__global__ void rows_times_turned(const scalar_t* __restrict__ x, const scalar_t* __restrict__ turned,
                                  scalar_t* __restrict__ y, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const scalar_t* row = x + static_cast<int64_t>(blockIdx.y) * K;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += static_cast<float>(row[k]) * static_cast<float>(turned[static_cast<int64_t>(k) * N + n]);
  y[static_cast<int64_t>(blockIdx.y) * N + n] = static_cast<scalar_t>(sum);
}

torch::Tensor prepare(torch::Tensor weight) {
  const int N = weight.size(0), K = weight.size(1);
  auto turned = torch::empty({K, N}, weight.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, weight.scalar_type(), "turn", [&] {
    turn<scalar_t><<<(weight.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        weight.data_ptr<scalar_t>(), turned.data_ptr<scalar_t>(), N, K);
  });
  return turned;
}

torch::Tensor forward(torch::Tensor x, torch::Tensor turned) {
  const int M = x.size(0), K = x.size(1), N = turned.size(1);
  auto y = torch::empty({M, N}, x.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rows_times_turned", [&] {
    rows_times_turned<scalar_t><<<dim3((N + 127) / 128, M), 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), turned.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), N, K);
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("prepare", &prepare, "turns the weight");
  m.def("forward", &forward, "few rows times a turned weight");
}
