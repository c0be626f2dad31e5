// task: modern/swiglu  dtypes: fp32, fp16, bf16  style: a function object as template argument and a pack of inputs: map(f, out, in...), called for every type by AND2 dispatch
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

#include <initializer_list>
#include <utility>

struct GatedSilu {
  template <typename T>
  __device__ __forceinline__ T operator()(T gate, T up) const {
    return gate / (T(1) + expf(-gate)) * up;
  }
};

template <typename F, typename Out, typename... In>
__global__ void map_kernel(F f, Out* __restrict__ out, int64_t n, const In* __restrict__... in) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
    out[i] = static_cast<Out>(f(static_cast<float>(in[i])...));
}

template <typename F, typename Out, typename... In>
void map(F&& f, Out* out, int64_t n, In*... in) {
  static_assert(sizeof...(In) > 0, "nothing to map");
  const int blocks = static_cast<int>(std::min<int64_t>((n + 255) / 256, 4096));
  map_kernel<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(std::forward<F>(f), out, n, const_cast<const In*>(in)...);
}

torch::Tensor forward(torch::Tensor gate, torch::Tensor up) {
  for (const auto& t : {gate, up}) TORCH_CHECK(t.is_cuda() && t.is_contiguous());
  auto y = at::empty_like(gate);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, gate.scalar_type(), "map", ([&] {
    map(GatedSilu{}, y.data_ptr<scalar_t>(), gate.numel(), gate.data_ptr<scalar_t>(), up.data_ptr<scalar_t>());
  }));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
