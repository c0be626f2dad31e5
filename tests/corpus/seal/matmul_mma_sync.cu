// task: modern/matmul  dtypes: bf16  style: mma.sync.m16n8k16 by inline PTX, fragments built by hand from shared memory
#include <torch/extension.h>
#include <cuda_bf16.h>
#include <cstdint>

__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// One warp computes a 16 x 8 tile of C.
__global__ void matmul_mma(const uint16_t* __restrict__ A, const uint16_t* __restrict__ B, __nv_bfloat16* __restrict__ C, int M,
                           int N, int K) {
  __shared__ __align__(4) uint16_t as[16][18];  // rows of A
  __shared__ __align__(4) uint16_t bs[8][18];   // columns of B
  const int lane = threadIdx.x, group = lane / 4, pair = lane % 4;
  const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 8;
  float acc[4] = {0.f, 0.f, 0.f, 0.f};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int i = lane; i < 256; i += 32) {
      const int m = i / 16, k = i % 16;
      as[m][k] = row0 + m < M && k0 + k < K ? A[(size_t)(row0 + m) * K + k0 + k] : 0;
    }
    for (int i = lane; i < 128; i += 32) {
      const int k = i / 8, n = i % 8;
      bs[n][k] = col0 + n < N && k0 + k < K ? B[(size_t)(k0 + k) * N + col0 + n] : 0;
    }
    __syncwarp();
    const auto word = [](const uint16_t* p) { return *reinterpret_cast<const uint32_t*>(p); };
    const uint32_t a[4] = {word(&as[group][pair * 2]), word(&as[group + 8][pair * 2]), word(&as[group][pair * 2 + 8]),
                           word(&as[group + 8][pair * 2 + 8])};
    const uint32_t b[2] = {word(&bs[group][pair * 2]), word(&bs[group][pair * 2 + 8])};
    mma_m16n8k16(acc, a, b);
    __syncwarp();
  }
  for (int i = 0; i < 4; ++i) {
    const int m = row0 + group + (i / 2) * 8, n = col0 + pair * 2 + i % 2;
    if (m < M && n < N) C[(size_t)m * N + n] = __float2bfloat16(acc[i]);
  }
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(a.scalar_type() == torch::kBFloat16, "bfloat16 only");
  const int M = a.size(0), K = a.size(1), N = b.size(1);
  auto c = torch::empty({M, N}, a.options());
  matmul_mma<<<dim3((N + 7) / 8, (M + 15) / 16), 32>>>(
      reinterpret_cast<const uint16_t*>(a.data_ptr<at::BFloat16>()), reinterpret_cast<const uint16_t*>(b.data_ptr<at::BFloat16>()),
      reinterpret_cast<__nv_bfloat16*>(c.data_ptr<at::BFloat16>()), M, N, K);
  return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
