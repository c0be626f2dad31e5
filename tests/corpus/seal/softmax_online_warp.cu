// task: modern/softmax  dtypes: fp32, fp16, bf16  style: online softmax, one warp per row, shuffles, AT_DISPATCH_FLOATING_TYPES_AND2, current stream and guard
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

constexpr int kWarpSize = 32;
constexpr int kWarpsPerBlock = 4;
constexpr unsigned kFullMask = 0xffffffffu;

struct MaxSum {
  float max;
  float sum;
};

// Two partial results of the online algorithm; an empty one has max = -inf and sum = 0.
__device__ __forceinline__ MaxSum merge(MaxSum a, MaxSum b) {
  const float m = fmaxf(a.max, b.max);
  const float sa = a.max == m ? a.sum : a.sum * expf(a.max - m);
  const float sb = b.max == m ? b.sum : b.sum * expf(b.max - m);
  return {m, sa + sb};
}

template <typename scalar_t>
__global__ void online_softmax_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, int64_t rows, int64_t cols) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / kWarpSize;
  if (row >= rows) return;  // whole warps leave together
  const scalar_t* in = x + row * cols;
  scalar_t* out = y + row * cols;

  MaxSum state{-INFINITY, 0.0f};
  for (int64_t c = lane; c < cols; c += kWarpSize) {
    const float v = static_cast<float>(in[c]);
    state = merge(state, {v, v == -INFINITY ? 0.0f : expf(v - v)});  // one, or NaN for infinity and NaN
  }
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
    MaxSum other;
    other.max = __shfl_xor_sync(kFullMask, state.max, offset);
    other.sum = __shfl_xor_sync(kFullMask, state.sum, offset);
    state = merge(state, other);
  }
  const float inv = 1.0f / state.sum;
  for (int64_t c = lane; c < cols; c += kWarpSize) {
    out[c] = static_cast<scalar_t>(expf(static_cast<float>(in[c]) - state.max) * inv);
  }
}

at::Tensor softmax_forward(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "expected a contiguous CUDA tensor");
  const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
  auto y = at::empty_like(x);
  const int64_t cols = x.size(-1);
  const int64_t rows = x.numel() / cols;
  const dim3 grid((rows + kWarpsPerBlock - 1) / kWarpsPerBlock);
  const dim3 block(kWarpsPerBlock * kWarpSize);
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "online_softmax", [&] {
    online_softmax_kernel<scalar_t><<<grid, block, 0, stream>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), rows, cols);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &softmax_forward, py::arg("x")); }
