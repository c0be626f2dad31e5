// task: modern/matmul  dtypes: fp32, fp16, bf16  style: split-K with a three-dimensional scratch tensor and a second kernel, dim3 arithmetic, ceil_div
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

template <typename scalar_t>
__global__ void partial_product(const scalar_t* __restrict__ a, const scalar_t* __restrict__ b, float* __restrict__ parts, int M,
                                int N, int K, int slice) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  const int first = blockIdx.z * slice, last = min(first + slice, K);
  float acc = 0.f;
  for (int k = first; k < last; ++k) acc += static_cast<float>(a[(int64_t)m * K + k]) * static_cast<float>(b[(int64_t)k * N + n]);
  parts[((int64_t)blockIdx.z * M + m) * N + n] = acc;
}

template <typename scalar_t>
__global__ void add_slices(const float* __restrict__ parts, scalar_t* __restrict__ c, int64_t outputs, int slices) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= outputs) return;
  float acc = 0.f;
  for (int s = 0; s < slices; ++s) acc += parts[s * outputs + i];
  c[i] = static_cast<scalar_t>(acc);
}

at::Tensor forward(at::Tensor a, at::Tensor b) {
  const int M = a.size(0), K = a.size(1), N = b.size(1);
  const int slices = K >= 1024 ? 8 : 1;
  auto parts = at::empty({slices, M, N}, a.options().dtype(at::kFloat));
  auto c = at::empty({M, N}, a.options());
  const dim3 block(32, 8), grid(at::ceil_div(N, 32), at::ceil_div(M, 8), slices);
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, a.scalar_type(), "split_k", [&] {
    partial_product<scalar_t><<<grid, block, 0, stream>>>(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), parts.data_ptr<float>(), M,
                                                          N, K, at::ceil_div(K, slices));
    add_slices<scalar_t><<<at::ceil_div(c.numel(), (int64_t)256), 256, 0, stream>>>(parts.data_ptr<float>(), c.data_ptr<scalar_t>(),
                                                                                    c.numel(), slices);
  });
  return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
