// task: modern/bias_gelu  dtypes: fp32, fp16, bf16  style: UTF-8 comments and strings, raw pointers with auto, no trailing newline
// Φ(x) = ½·(1 + erf(x/√2)) — активация, 活性化関数, фу́нкция ошибок 🚀
#include <torch/extension.h>

namespace gelu {

constexpr double M_SQRT1_2_ = 0.70710678118654752440;  // 1/√2

template <typename T>
__device__ __host__ inline T phi(T x) {
  return T(0.5) * (T(1) + erf(x * T(M_SQRT1_2_)));
}

template <typename scalar_t>
__global__ void kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ b, scalar_t* __restrict__ y, int64_t rows, int64_t d) {
  for (auto row = int64_t(blockIdx.y); row < rows; row += gridDim.y)
    for (auto c = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; c < d; c += int64_t(gridDim.x) * blockDim.x) {
      const auto v = float(x[row * d + c]) + float(b[c]);
      y[row * d + c] = scalar_t(v * phi(v));
    }
}

}  // namespace gelu

auto forward(const torch::Tensor& x, const torch::Tensor& bias) -> torch::Tensor {
  TORCH_CHECK(x.size(-1) == bias.numel(), "форма bias ≠ последняя ось x: ", bias.sizes(), " против ", x.sizes());
  auto y = torch::empty_like(x);
  const auto d = bias.numel(), rows = x.numel() / d;
  const dim3 grid(std::min<int64_t>((d + 127) / 128, 1024), std::min<int64_t>(rows, 65535));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "gelu ✓", [&] {
    gelu::kernel<scalar_t><<<grid, 128>>>(x.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), rows, d);
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "GELU с ошибкой Гаусса"); }