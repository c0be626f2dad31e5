// task: paper/llama_rmsnorm  dtypes: fp32  style: __ldg loads, a lambda in m.def instead of a function, py::arg default
#include <torch/extension.h>

__global__ void rms_norm(float* o, const float* x, const float* weight, int size, float eps) {
  __shared__ float ss_shared;
  const float* xr = x + (long)blockIdx.x * size;
  float ss = 0.0f;
  for (int j = threadIdx.x; j < size; j += blockDim.x) {
    const float v = __ldg(&xr[j]);
    ss = fmaf(v, v, ss);
  }
  __shared__ float parts[1024];
  parts[threadIdx.x] = ss;
  __syncthreads();
  for (unsigned s = blockDim.x >> 1; s >= 1; s >>= 1) {
    if (threadIdx.x < s) parts[threadIdx.x] += parts[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) ss_shared = 1.0f / sqrtf(parts[0] / size + eps);
  __syncthreads();
  for (int j = threadIdx.x; j < size; j += blockDim.x)
    o[(long)blockIdx.x * size + j] = __ldg(weight + j) * (ss_shared * __ldg(xr + j));
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def(
      "forward",
      [](torch::Tensor x, torch::Tensor weight, double eps) {
        auto out = torch::empty_like(x);
        const int size = x.size(-1);
        rms_norm<<<x.numel() / size, 1024>>>(out.data_ptr<float>(), x.data_ptr<float>(), weight.data_ptr<float>(), size, eps);
        return out;
      },
      "RMSNorm (CUDA)", py::arg("x"), py::arg("weight"), py::arg("eps") = 1e-6);
}
