// task: modern/softmax  dtypes: fp32  style: dynamic shared memory above 48 KiB with cudaFuncSetAttribute, device properties, a second kernel for rows that do not fit
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

static __device__ float reduce_across_block(float value, bool maximum, float* lanes) {
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, d);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  __syncthreads();
  if ((threadIdx.x & 31) == 0) lanes[threadIdx.x >> 5] = value;
  __syncthreads();
  value = lanes[0];
  for (unsigned w = 1; w < blockDim.x / 32; ++w) value = maximum ? fmaxf(value, lanes[w]) : value + lanes[w];
  return value;
}

static __global__ void softmax_row_in_shared(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ __align__(16) unsigned char raw[];
  float* cache = reinterpret_cast<float*>(raw);
  __shared__ float lanes[32];
  const float* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    cache[i] = in[i];
    m = fmaxf(m, cache[i]);
  }
  m = reduce_across_block(m, true, lanes);
  float s = 0.f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    cache[i] = expf(cache[i] - m);
    s += cache[i];
  }
  s = reduce_across_block(s, false, lanes);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[static_cast<size_t>(blockIdx.x) * cols + i] = cache[i] / s;
}

static __global__ void softmax_row_streamed(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ float lanes[32];
  const float* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float m = -INFINITY, s = 0.f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, in[i]);
  m = reduce_across_block(m, true, lanes);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += expf(in[i] - m);
  s = reduce_across_block(s, false, lanes);
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    y[static_cast<size_t>(blockIdx.x) * cols + i] = expf(in[i] - m) / s;
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.is_contiguous());
  auto y = torch::empty_like(x);
  const int cols = x.size(-1), rows = x.numel() / cols;
  const size_t bytes = cols * sizeof(float);
  const cudaDeviceProp* prop = at::cuda::getCurrentDeviceProperties();
  auto stream = at::cuda::getCurrentCUDAStream();
  if (bytes + 128 <= prop->sharedMemPerBlockOptin) {
    if (bytes > 48 * 1024 - 128) {
      C10_CUDA_CHECK(cudaFuncSetAttribute(
          softmax_row_in_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    }
    softmax_row_in_shared<<<rows, 512, bytes, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
  } else {
    softmax_row_streamed<<<rows, 512, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
  }
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "softmax"); }
