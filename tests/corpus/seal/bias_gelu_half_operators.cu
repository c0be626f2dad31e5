// task: modern/bias_gelu  dtypes: fp16  style: __half intrinsics only (__hadd, __half2float), at::Half reinterpret_cast, cudaLaunchKernel with an argument array
#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>
#include <torch/extension.h>

__global__ void bias_gelu_fp16(const __half* x, const __half* bias, __half* y, long long n, int d) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = __half2float(__hadd(x[i], bias[i % d]));
  y[i] = __float2half(0.5f * v * (1.0f + erff(v * 0.7071067811865476f)));
}

at::Tensor forward(at::Tensor x, at::Tensor bias) {
  TORCH_CHECK(x.scalar_type() == at::kHalf);
  at::Tensor y = at::empty_like(x);
  auto xp = reinterpret_cast<const __half*>(x.data_ptr<at::Half>());
  auto bp = reinterpret_cast<const __half*>(bias.data_ptr<at::Half>());
  auto yp = reinterpret_cast<__half*>(y.data_ptr<at::Half>());
  long long n = x.numel();
  int d = bias.numel();
  void* arguments[] = {(void*)&xp, (void*)&bp, (void*)&yp, (void*)&n, (void*)&d};
  cudaError_t status = cudaLaunchKernel((const void*)&bias_gelu_fp16, dim3((n + 255) / 256), dim3(256), arguments, 0,
                                        at::cuda::getCurrentCUDAStream());
  TORCH_CHECK(status == cudaSuccess, cudaGetErrorString(status));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
