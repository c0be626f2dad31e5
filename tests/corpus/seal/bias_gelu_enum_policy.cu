// task: modern/bias_gelu  dtypes: fp32, fp16  style: enum class and bool as template arguments, if constexpr on both, traits struct with using, static_assert on the vector width
#include <torch/extension.h>

enum class Activation : int { Identity = 0, Gelu = 1 };

template <typename T>
struct Wide {
  using type = float;
  static constexpr int kPerThread = sizeof(T) == 2 ? 8 : 4;
  static_assert(kPerThread * sizeof(T) == 16, "one thread handles sixteen bytes");
};

template <Activation A, typename W>
__device__ __forceinline__ W activate(W v) {
  if constexpr (A == Activation::Gelu) {
    return v * static_cast<W>(0.5) * (static_cast<W>(1) + erff(v * static_cast<W>(0.70710678118654752440)));
  } else {
    return v;
  }
}

template <typename T, Activation A, bool kWhole>
__global__ void bias_activation(const T* __restrict__ x, const T* __restrict__ bias, T* __restrict__ y, int64_t total, int columns) {
  using W = typename Wide<T>::type;
  const int64_t first = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * Wide<T>::kPerThread;
#pragma unroll
  for (int j = 0; j < Wide<T>::kPerThread; ++j) {
    const int64_t i = first + j;
    if constexpr (!kWhole) {
      if (i >= total) break;
    }
    y[i] = static_cast<T>(activate<A, W>(static_cast<W>(x[i]) + static_cast<W>(bias[i % columns])));
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_SWITCH(x.scalar_type(), "bias_activation",
      AT_DISPATCH_CASE(at::ScalarType::Float, [&] {
        constexpr int64_t per_block = 128 * Wide<scalar_t>::kPerThread;
        const int64_t total = x.numel();
        const int blocks = (total + per_block - 1) / per_block;
        auto* kernel = total % per_block == 0 ? &bias_activation<scalar_t, Activation::Gelu, true>
                                              : &bias_activation<scalar_t, Activation::Gelu, false>;
        kernel<<<blocks, 128>>>(x.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), total, bias.numel());
      })
      AT_DISPATCH_CASE(at::ScalarType::Half, [&] {
        constexpr int64_t per_block = 128 * Wide<scalar_t>::kPerThread;
        const int blocks = (x.numel() + per_block - 1) / per_block;
        bias_activation<scalar_t, Activation::Gelu, false><<<blocks, 128>>>(
            x.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel(), bias.numel());
      }));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
