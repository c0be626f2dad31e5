// task: modern/int8_linear  dtypes: fp32, fp16, bf16  style: int8_t weights read as char4 where aligned, torch::kInt8 check, scale and bias in the epilogue
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void int8_linear(const scalar_t* __restrict__ x, const int8_t* __restrict__ w, const float* __restrict__ scales,
                            const scalar_t* __restrict__ bias, scalar_t* __restrict__ y, int N, int K, bool vector) {
  const int n = blockIdx.x, m = blockIdx.y;
  const scalar_t* xr = x + (int64_t)m * K;
  const int8_t* wr = w + (int64_t)n * K;
  float acc = 0.f;
  if (vector) {
    const char4* w4 = reinterpret_cast<const char4*>(wr);
    for (int i = threadIdx.x; i < K / 4; i += blockDim.x) {
      const char4 c = w4[i];
      acc += (float)xr[4 * i] * c.x + (float)xr[4 * i + 1] * c.y + (float)xr[4 * i + 2] * c.z + (float)xr[4 * i + 3] * c.w;
    }
  } else {
    for (int k = threadIdx.x; k < K; k += blockDim.x) acc += (float)xr[k] * (float)wr[k];
  }
  __shared__ float parts[4];
  for (int o = 16; o > 0; o >>= 1) acc += __shfl_down_sync(0xffffffffu, acc, o);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = acc;
  __syncthreads();
  if (threadIdx.x == 0)
    y[(int64_t)m * N + n] = (scalar_t)((parts[0] + parts[1] + parts[2] + parts[3]) * scales[n] + (float)bias[n]);
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor scales, torch::Tensor bias) {
  TORCH_CHECK(weight.scalar_type() == torch::kInt8, "weight must be int8");
  const int M = x.size(0), K = x.size(1), N = weight.size(0);
  TORCH_CHECK(M <= 65535, "too many rows for one grid");
  auto y = torch::empty({M, N}, x.options());
  const bool vector = K % 4 == 0 && reinterpret_cast<uintptr_t>(weight.data_ptr<int8_t>()) % 4 == 0;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "int8_linear", [&] {
    int8_linear<scalar_t><<<dim3(N, M), 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), weight.data_ptr<int8_t>(), scales.data_ptr<float>(), bias.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(),
        N, K, vector);
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "weight-only int8 linear"); }
