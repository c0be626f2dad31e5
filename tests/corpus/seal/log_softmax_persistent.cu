// task: modern/log_softmax  dtypes: fp32, fp16, bf16  style: persistent kernel with an atomic row counter, occupancy query, cudaMemsetAsync, device lambda inside a kernel
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

constexpr int THREADS = 256;

template <typename T>
__global__ void log_softmax_persistent(const T* __restrict__ x, T* __restrict__ y, int rows, int cols, int* next_row) {
  __shared__ float lanes[THREADS / 32];
  __shared__ int row;
  auto across = [&](float v, bool is_max) {
    for (int d = 16; d; d >>= 1) {
      float o = __shfl_xor_sync(~0u, v, d);
      v = is_max ? fmaxf(v, o) : v + o;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = v;
    __syncthreads();
    v = lanes[0];
    for (int w = 1; w < THREADS / 32; ++w) v = is_max ? fmaxf(v, lanes[w]) : v + lanes[w];
    return v;
  };
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) row = atomicAdd(next_row, 1);
    __syncthreads();
    if (row >= rows) return;
    const T* in = x + (int64_t)row * cols;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < cols; i += THREADS) m = fmaxf(m, (float)in[i]);
    m = across(m, true);
    float s = 0;
    for (int i = threadIdx.x; i < cols; i += THREADS) s += expf((float)in[i] - m);
    s = across(s, false);
    const float log_sum = logf(s);
    for (int i = threadIdx.x; i < cols; i += THREADS) y[(int64_t)row * cols + i] = (T)((float)in[i] - m - log_sum);
  }
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  auto counter = torch::empty({1}, x.options().dtype(torch::kInt32));
  auto stream = at::cuda::getCurrentCUDAStream().stream();
  C10_CUDA_CHECK(cudaMemsetAsync(counter.data_ptr(), 0, sizeof(int), stream));
  const int cols = x.size(-1), rows = x.numel() / cols;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "log_softmax", [&] {
    int per_sm = 0;
    C10_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, log_softmax_persistent<scalar_t>, THREADS, 0));
    const int blocks = std::min(rows, per_sm * at::cuda::getCurrentDeviceProperties()->multiProcessorCount);
    log_softmax_persistent<scalar_t><<<blocks, THREADS, 0, stream>>>(
        x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), rows, cols, counter.data_ptr<int>());
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "log softmax, persistent"); }
