// task: modern/rope  dtypes: fp32, fp16, bf16  style: one template kernel launched twice, host helper template, tuple of two outputs
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <tuple>

template <typename scalar_t>
__global__ void rotate(const scalar_t* __restrict__ in, const float* __restrict__ cos, const float* __restrict__ sin,
                       scalar_t* __restrict__ out, int64_t pairs, int S, int heads, int half) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const int d = i % half;
  const int64_t vector = i / half;
  const int s = vector / heads % S;
  const float c = cos[s * half + d], n = sin[s * half + d];
  const int64_t at = vector * 2 * half + d;
  const float first = static_cast<float>(in[at]), second = static_cast<float>(in[at + half]);
  out[at] = static_cast<scalar_t>(first * c - second * n);
  out[at + half] = static_cast<scalar_t>(second * c + first * n);
}

static torch::Tensor rotated(const torch::Tensor& x, const torch::Tensor& cos, const torch::Tensor& sin) {
  auto out = torch::empty_like(x);
  const int64_t pairs = x.numel() / 2;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rotate", [&] {
    rotate<scalar_t><<<(pairs + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), cos.data_ptr<float>(), sin.data_ptr<float>(), out.data_ptr<scalar_t>(), pairs, x.size(1), x.size(2),
        x.size(3) / 2);
  });
  return out;
}

std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor q, torch::Tensor k, torch::Tensor cos, torch::Tensor sin) {
  TORCH_CHECK(q.size(-1) % 2 == 0, "the head dimension must be even");
  return std::make_tuple(rotated(q, cos, sin), rotated(k, cos, sin));
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "rotary position embedding"); }
