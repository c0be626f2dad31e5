// task: modern/matmul  dtypes: fp32, fp16, bf16  style: classic shared-memory tiles, TILE_WIDTH macro, std::vector sizes, accessors on the device
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <iostream>
#include <vector>

#define TILE_WIDTH 16

template <typename scalar_t>
__global__ void matmul_tiled(const scalar_t* __restrict__ A, const scalar_t* __restrict__ B, scalar_t* __restrict__ C, const int M,
                             const int N, const int K) {
    __shared__ float As[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Bs[TILE_WIDTH][TILE_WIDTH];

    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    const int col = blockIdx.x * TILE_WIDTH + threadIdx.x;
    float value = 0.0f;

    for (int t = 0; t < (K - 1) / TILE_WIDTH + 1; ++t) {
        const int ka = t * TILE_WIDTH + threadIdx.x;
        const int kb = t * TILE_WIDTH + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < M && ka < K) ? (float)A[(size_t)row * K + ka] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = (kb < K && col < N) ? (float)B[(size_t)kb * N + col] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < TILE_WIDTH; ++k)
            value += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N)
        C[(size_t)row * N + col] = (scalar_t)value;
}

torch::Tensor matmul_cuda(torch::Tensor A, torch::Tensor B) {
    TORCH_CHECK(A.device().is_cuda(), "A must be a CUDA tensor");
    TORCH_CHECK(A.size(1) == B.size(0), "inner dimensions differ");
    const int M = A.size(0), K = A.size(1), N = B.size(1);
    std::vector<int64_t> shape = {M, N};
    auto C = torch::zeros(shape, A.options());
    dim3 threads(TILE_WIDTH, TILE_WIDTH);
    dim3 blocks((N + threads.x - 1) / threads.x, (M + threads.y - 1) / threads.y);
    AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, A.scalar_type(), "matmul_cuda", ([&] {
        matmul_tiled<scalar_t><<<blocks, threads>>>(A.data_ptr<scalar_t>(), B.data_ptr<scalar_t>(), C.data_ptr<scalar_t>(), M, N, K);
    }));
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &matmul_cuda, "Tiled matrix product (CUDA)");
}
