// task: modern/matmul  dtypes: fp16, bf16  style: nvcuda::wmma fragments fed from zero-padded shared tiles, result through shared memory, template over the CUDA type
#include <ATen/cuda/CUDAContext.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <torch/extension.h>

using namespace nvcuda;

constexpr int WM = 16, WN = 16, WK = 16;
constexpr int kWarps = 4;

__device__ __forceinline__ __half narrow(float v, __half) { return __float2half(v); }
__device__ __forceinline__ __nv_bfloat16 narrow(float v, __nv_bfloat16) { return __float2bfloat16(v); }

template <typename T>
__global__ void matmul_wmma(const T* __restrict__ A, const T* __restrict__ B, T* __restrict__ C, int M, int N, int K) {
  __shared__ T a_tile[kWarps][WM * WK];
  __shared__ T b_tile[WK * WN];
  __shared__ float c_tile[kWarps][WM * WN];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row0 = (blockIdx.y * kWarps + warp) * WM, col0 = blockIdx.x * WN;
  const T zero = narrow(0.0f, T());

  wmma::fragment<wmma::matrix_a, WM, WN, WK, T, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, WM, WN, WK, T, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, WM, WN, WK, float> acc;
  wmma::fill_fragment(acc, 0.0f);

  for (int k0 = 0; k0 < K; k0 += WK) {
    for (int i = lane; i < WM * WK; i += 32) {
      const int m = row0 + i / WK, k = k0 + i % WK;
      a_tile[warp][i] = (m < M && k < K) ? A[(int64_t)m * K + k] : zero;
    }
    for (int i = threadIdx.x; i < WK * WN; i += blockDim.x) {
      const int k = k0 + i / WN, n = col0 + i % WN;
      b_tile[i] = (k < K && n < N) ? B[(int64_t)k * N + n] : zero;
    }
    __syncthreads();
    wmma::load_matrix_sync(a, a_tile[warp], WK);
    wmma::load_matrix_sync(b, b_tile, WN);
    wmma::mma_sync(acc, a, b, acc);
    __syncthreads();
  }
  wmma::store_matrix_sync(c_tile[warp], acc, WN, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < WM * WN; i += 32) {
    const int m = row0 + i / WN, n = col0 + i % WN;
    if (m < M && n < N) C[(int64_t)m * N + n] = narrow(c_tile[warp][i], T());
  }
}

template <typename T>
static void launch(const at::Tensor& a, const at::Tensor& b, at::Tensor& c) {
  const int M = a.size(0), K = a.size(1), N = b.size(1);
  const dim3 grid((N + WN - 1) / WN, (M + WM * kWarps - 1) / (WM * kWarps));
  matmul_wmma<T><<<grid, 32 * kWarps, 0, at::cuda::getCurrentCUDAStream()>>>(
      reinterpret_cast<const T*>(a.data_ptr()), reinterpret_cast<const T*>(b.data_ptr()), reinterpret_cast<T*>(c.data_ptr()), M, N, K);
}

at::Tensor forward(at::Tensor a, at::Tensor b) {
  auto c = at::empty({a.size(0), b.size(1)}, a.options());
  if (a.scalar_type() == at::kHalf)
    launch<__half>(a, b, c);
  else if (a.scalar_type() == at::kBFloat16)
    launch<__nv_bfloat16>(a, b, c);
  else
    TORCH_CHECK(false, "tensor cores want half or bfloat16, not ", a.scalar_type());
  return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "matrix product on tensor cores"); }
