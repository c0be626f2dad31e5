// task: modern/softmax  dtypes: fp32  style: CHECK_CUDA, CHECK_CONTIGUOUS and CHECK_INPUT macros, tree reduction in shared memory
#include <torch/extension.h>

#include <cuda.h>
#include <cuda_runtime.h>
#include <cmath>

#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) \
  CHECK_CUDA(x);       \
  CHECK_CONTIGUOUS(x)

#define THREADS 256

__global__ void softmax_kernel(const float* __restrict__ input, float* __restrict__ output, int cols) {
  extern __shared__ float sdata[];
  const int row = blockIdx.x;
  const int tid = threadIdx.x;
  const float* in = input + (size_t)row * cols;
  float* out = output + (size_t)row * cols;

  float local_max = -INFINITY;
  for (int i = tid; i < cols; i += blockDim.x) local_max = fmaxf(local_max, in[i]);
  sdata[tid] = local_max;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] = fmaxf(sdata[tid], sdata[tid + s]);
    __syncthreads();
  }
  const float row_max = sdata[0];
  __syncthreads();

  float local_sum = 0.0f;
  for (int i = tid; i < cols; i += blockDim.x) local_sum += expf(in[i] - row_max);
  sdata[tid] = local_sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  const float row_sum = sdata[0];

  for (int i = tid; i < cols; i += blockDim.x) out[i] = expf(in[i] - row_max) / row_sum;
}

torch::Tensor forward(torch::Tensor x) {
  CHECK_INPUT(x);
  TORCH_CHECK(x.scalar_type() == torch::kFloat32, "x must be float32, got ", x.scalar_type());
  auto output = torch::empty_like(x);
  const int cols = x.size(-1);
  const int rows = x.numel() / cols;
  softmax_kernel<<<rows, THREADS, THREADS * sizeof(float)>>>(x.data_ptr<float>(), output.data_ptr<float>(), cols);
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "Softmax over the last dimension (CUDA)");
}
