// task: modern/matmul  dtypes: fp32  style: template tile sizes with static_asserts, #pragma unroll N everywhere, registers as a two-dimensional array, dim3 from template constants
#include <torch/extension.h>

template <int BM, int BN, int BK, int TM, int TN>
struct Tile {
  static_assert(BM % TM == 0 && BN % TN == 0, "threads share the tile evenly");
  static constexpr int kThreads = (BM / TM) * (BN / TN);
  static_assert(kThreads <= 1024, "one block");
};

template <int BM, int BN, int BK, int TM, int TN>
__global__ __launch_bounds__((BM / TM) * (BN / TN)) void product(const float* __restrict__ a, const float* __restrict__ b,
                                                                 float* __restrict__ c, int M, int N, int K) {
  constexpr int kThreads = Tile<BM, BN, BK, TM, TN>::kThreads;
  __shared__ float as[BK][BM + 1];
  __shared__ float bs[BK][BN];
  const int row0 = blockIdx.y * BM, column0 = blockIdx.x * BN;
  const int ty = threadIdx.x / (BN / TN), tx = threadIdx.x % (BN / TN);
  float sums[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += kThreads) {
      const int r = row0 + i / BK, k = k0 + i % BK;
      as[i % BK][i / BK] = r < M && k < K ? a[static_cast<int64_t>(r) * K + k] : 0.f;
    }
    for (int i = threadIdx.x; i < BK * BN; i += kThreads) {
      const int k = k0 + i / BN, n = column0 + i % BN;
      bs[i / BN][i % BN] = k < K && n < N ? b[static_cast<int64_t>(k) * N + n] : 0.f;
    }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < BK; ++k) {
      float left[TM], right[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) left[i] = as[k][ty * TM + i];
#pragma unroll
      for (int j = 0; j < TN; ++j) right[j] = bs[k][tx * TN + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int r = row0 + ty * TM + i, n = column0 + tx * TN + j;
      if (r < M && n < N) c[static_cast<int64_t>(r) * N + n] = sums[i][j];
    }
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
  constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;
  const int M = a.size(0), K = a.size(1), N = b.size(1);
  torch::Tensor c = torch::empty({M, N}, a.options());
  const dim3 grid((N + BN - 1) / BN, (M + BM - 1) / BM), block(Tile<BM, BN, BK, TM, TN>::kThreads);
  product<BM, BN, BK, TM, TN><<<grid, block>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), M, N, K);
  return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "C = A B"); }
