// task: paper/unet_conv2d:backward  dtypes: fp32, bf16  style: at::convolution_backward for two of the gradients, the bias in a kernel of our own
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void plane_sums(const scalar_t* __restrict__ grad, scalar_t* __restrict__ bias, int64_t B, int64_t O, int64_t plane) {
  __shared__ float parts[8];
  float sum = 0.f;
  for (int64_t i = threadIdx.x; i < B * plane; i += blockDim.x)
    sum += static_cast<float>(grad[(i / plane * O + blockIdx.x) * plane + i % plane]);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) sum += parts[w];
    bias[blockIdx.x] = static_cast<scalar_t>(sum);
  }
}

std::vector<torch::Tensor> backward(torch::Tensor grad_y, torch::Tensor x, torch::Tensor weight, torch::Tensor bias,
                                    int64_t stride, int64_t padding) {
  grad_y = grad_y.contiguous();
  auto [grad_x, grad_weight, none] =
      at::convolution_backward(grad_y, x, weight, std::nullopt, {stride, stride}, {padding, padding}, {1, 1}, false, {0, 0}, 1,
                               {true, true, false});
  TORCH_CHECK(!none.defined(), "no gradient of the bias was asked for");
  auto grad_bias = torch::empty_like(bias);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "plane_sums", [&] {
    plane_sums<scalar_t><<<grad_y.size(1), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        grad_y.data_ptr<scalar_t>(), grad_bias.data_ptr<scalar_t>(), grad_y.size(0), grad_y.size(1),
        grad_y.size(2) * grad_y.size(3));
  });
  return {grad_x, grad_weight, grad_bias};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
