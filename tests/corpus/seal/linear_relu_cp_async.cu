// task: paper/mnist_linear_relu  dtypes: fp32  style: cp.async by inline PTX into double-buffered shared memory, #if on __CUDA_ARCH__
#include <torch/extension.h>
#include <cstdint>

#define BM 16
#define BN 16
#define BK 16

__device__ __forceinline__ void copy4(float* shared, const float* global, bool valid) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const int bytes = valid ? 4 : 0;  // the rest is filled with zeros
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(address), "l"(global), "r"(bytes));
#else
  *shared = valid ? *global : 0.0f;
#endif
}

__device__ __forceinline__ void commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\n" ::);
#endif
}

template <int N>
__device__ __forceinline__ void wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N));
#endif
}

__global__ void linear_relu_async(const float* x, const float* w, const float* bias, float* y, int M, int N, int K) {
  __shared__ float xs[2][BM][BK];
  __shared__ float ws[2][BN][BK + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx, wrow = blockIdx.x * BN + ty;

  auto stage = [&](int buffer, int k0) {
    const int k = k0 + tx;
    copy4(&xs[buffer][ty][tx], row < M && k < K ? x + (int64_t)row * K + k : x, row < M && k < K);
    copy4(&ws[buffer][ty][tx], wrow < N && k < K ? w + (int64_t)wrow * K + k : w, wrow < N && k < K);
    commit();
  };

  float acc = 0.f;
  const int steps = (K + BK - 1) / BK;
  stage(0, 0);
  for (int s = 0; s < steps; ++s) {
    if (s + 1 < steps) {
      stage((s + 1) % 2, (s + 1) * BK);
      wait<1>();
    } else {
      wait<0>();
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) acc += xs[s % 2][ty][k] * ws[s % 2][tx][k];
    __syncthreads();
  }
  if (row < M && col < N) y[(int64_t)row * N + col] = fmaxf(acc + bias[col], 0.f);
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  const int M = x.size(0), K = x.size(1), N = weight.size(0);
  auto y = torch::empty({M, N}, x.options());
  linear_relu_async<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), dim3(BN, BM)>>>(
      x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), M, N, K);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
