// task: modern/swiglu  dtypes: fp32, fp16, bf16  style: elementwise template over a functor, variadic parameter pack of input pointers, C10_LAUNCH_BOUNDS_1, macros of c10
#include <ATen/cuda/CUDAContext.h>
#include <c10/macros/Macros.h>
#include <torch/extension.h>

constexpr int kThreads = 256;
constexpr int kPerThread = 4;

struct SwiGLU {
  C10_DEVICE C10_ALWAYS_INLINE float operator()(float gate, float up) const { return gate / (1.0f + expf(-gate)) * up; }
};

template <typename scalar_t, typename Functor, typename... Inputs>
C10_LAUNCH_BOUNDS_1(kThreads)
__global__ void elementwise(int64_t n, Functor f, scalar_t* __restrict__ out, const Inputs* __restrict__... in) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads * kPerThread + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const int64_t i = first + static_cast<int64_t>(k) * kThreads;
    if (i < n) out[i] = static_cast<scalar_t>(f(static_cast<float>(in[i])...));
  }
}

template <typename scalar_t, typename Functor, typename... Tensors>
void launch(Functor f, at::Tensor& out, const Tensors&... in) {
  const int64_t n = out.numel();
  const auto blocks = (n + kThreads * kPerThread - 1) / (kThreads * kPerThread);
  elementwise<scalar_t><<<blocks, kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
      n, f, out.data_ptr<scalar_t>(), in.template data_ptr<scalar_t>()...);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

at::Tensor forward(const at::Tensor& gate, const at::Tensor& up) {
  TORCH_CHECK(gate.sizes().equals(up.sizes()), "gate and up must agree in shape");
  auto out = at::empty_like(gate);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, gate.scalar_type(), "swiglu",
                                  [&] { launch<scalar_t>(SwiGLU{}, out, gate, up); });
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "SwiGLU"); }
