// task: modern/cumsum:backward  dtypes: fp32, fp16, bf16  style: reverse scan by one warp per row, strided access through accessor strides of a non-contiguous gradient
#include <torch/extension.h>

template <typename scalar_t>
__global__ void reverse_scan(const torch::PackedTensorAccessor64<scalar_t, 2, torch::DefaultPtrTraits> grad, scalar_t* dx, int64_t cols) {
  const int lane = threadIdx.x;
  const int64_t row = blockIdx.x;
  float carry = 0.f;
  for (int64_t end = cols; end > 0; end -= 32) {
    const int64_t i = end - 1 - lane;
    float v = i >= 0 ? static_cast<float>(grad[row][i]) : 0.f;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const float later = __shfl_up_sync(0xffffffffu, v, d);
      v = lane >= d ? v + later : v;
    }
    v += carry;
    if (i >= 0) dx[row * cols + i] = static_cast<scalar_t>(v);
    carry = __shfl_sync(0xffffffffu, v, 31);
  }
}

torch::Tensor backward(torch::Tensor grad_y, torch::Tensor x) {
  auto dx = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, x.scalar_type(), "reverse_scan", ([&] {
    reverse_scan<scalar_t><<<x.size(0), 32>>>(grad_y.packed_accessor64<scalar_t, 2>(), dx.data_ptr<scalar_t>(), x.size(1));
  }));
  return dx;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
