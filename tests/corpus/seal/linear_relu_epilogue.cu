// task: paper/mnist_linear_relu  dtypes: fp32  style: enum class template parameter, if constexpr epilogue, register tile per thread, constexpr structs
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

enum class Epilogue : int { kNone = 0, kRelu = 1 };

template <int BM_, int BN_, int BK_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int kThreads = (BM / 4) * (BN / 4);
};

template <typename Shape, Epilogue kEpilogue>
__global__ __launch_bounds__(Shape::kThreads) void gemm_bias(const float* __restrict__ A, const float* __restrict__ W,
                                                             const float* __restrict__ bias, float* __restrict__ C, int M, int N,
                                                             int K) {
  __shared__ float As[Shape::BK][Shape::BM];
  __shared__ float Ws[Shape::BK][Shape::BN];
  const int row0 = blockIdx.y * Shape::BM, col0 = blockIdx.x * Shape::BN;
  const int tx = threadIdx.x % (Shape::BN / 4), ty = threadIdx.x / (Shape::BN / 4);
  float acc[4][4] = {};

  for (int k0 = 0; k0 < K; k0 += Shape::BK) {
    for (int i = threadIdx.x; i < Shape::BM * Shape::BK; i += Shape::kThreads) {
      const int m = i / Shape::BK, k = i % Shape::BK;
      As[k][m] = (row0 + m < M && k0 + k < K) ? A[(int64_t)(row0 + m) * K + k0 + k] : 0.f;
    }
    for (int i = threadIdx.x; i < Shape::BN * Shape::BK; i += Shape::kThreads) {
      const int n = i / Shape::BK, k = i % Shape::BK;
      Ws[k][n] = (col0 + n < N && k0 + k < K) ? W[(int64_t)(col0 + n) * K + k0 + k] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Shape::BK; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += As[k][ty * 4 + i] * Ws[k][tx * 4 + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int m = row0 + ty * 4 + i, n = col0 + tx * 4 + j;
      if (m < M && n < N) {
        float v = acc[i][j] + bias[n];
        if constexpr (kEpilogue == Epilogue::kRelu) v = v > 0.f ? v : 0.f;
        C[(int64_t)m * N + n] = v;
      }
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  using Shape = Tile<32, 32, 8>;
  const int M = x.size(0), K = x.size(1), N = weight.size(0);
  auto y = at::empty({M, N}, x.options());
  const dim3 grid((N + Shape::BN - 1) / Shape::BN, (M + Shape::BM - 1) / Shape::BM);
  gemm_bias<Shape, Epilogue::kRelu><<<grid, Shape::kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), M, N, K);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "linear + relu"); }
