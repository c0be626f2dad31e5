// task: modern/swiglu:backward  dtypes: fp32, fp16, bf16  style: two outputs from one pass, returns std::pair through a tuple, grad possibly expanded
#include <torch/extension.h>

template <typename scalar_t>
__global__ void swiglu_bwd(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ gate, const scalar_t* __restrict__ up,
                           scalar_t* __restrict__ dgate, scalar_t* __restrict__ dup, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float g = gate[i], u = up[i], d = grad[i];
  const float sigmoid = 1.f / (1.f + expf(-g));
  dgate[i] = static_cast<scalar_t>(d * u * sigmoid * (1.f + g * (1.f - sigmoid)));
  dup[i] = static_cast<scalar_t>(d * g * sigmoid);
}

std::pair<torch::Tensor, torch::Tensor> both(torch::Tensor grad, torch::Tensor gate, torch::Tensor up) {
  if (!grad.is_contiguous()) grad = grad.contiguous();
  auto dgate = torch::empty_like(gate), dup = torch::empty_like(up);
  const int64_t n = gate.numel();
  AT_DISPATCH_FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, gate.scalar_type(), "swiglu_bwd", ([&] {
    swiglu_bwd<scalar_t><<<(n + 255) / 256, 256>>>(grad.data_ptr<scalar_t>(), gate.data_ptr<scalar_t>(), up.data_ptr<scalar_t>(),
                                                   dgate.data_ptr<scalar_t>(), dup.data_ptr<scalar_t>(), n);
  }));
  return {dgate, dup};
}

std::tuple<torch::Tensor, torch::Tensor> backward(torch::Tensor grad_y, torch::Tensor gate, torch::Tensor up) {
  auto [dgate, dup] = both(grad_y, gate, up);
  return {dgate, dup};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
