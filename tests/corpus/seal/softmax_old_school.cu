// task: modern/softmax  dtypes: fp32  style: old-school extension, .type(), AT_ASSERTM, AT_CHECK-era macros, data<T>(), forward declaration of the launcher
#include <torch/torch.h>
#include <torch/extension.h>
#include <vector>

#define CHECK_CUDA(x) AT_ASSERTM(x.type().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) AT_ASSERTM(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

std::vector<at::Tensor> softmax_cuda_forward(at::Tensor input);

std::vector<at::Tensor> softmax_forward_all(at::Tensor input) {
  CHECK_INPUT(input);
  return softmax_cuda_forward(input);
}

at::Tensor softmax_forward(at::Tensor input) { return softmax_forward_all(input)[0]; }

template <typename scalar_t>
__global__ void softmax_cuda_forward_kernel(const scalar_t* __restrict__ input, scalar_t* __restrict__ output,
                                            size_t state_size) {
  __shared__ scalar_t partial[128];
  const scalar_t* row = input + blockIdx.x * state_size;
  scalar_t best = -INFINITY;
  for (size_t column = threadIdx.x; column < state_size; column += blockDim.x)
    best = row[column] > best ? row[column] : best;
  partial[threadIdx.x] = best;
  __syncthreads();
  for (int stride = 64; stride > 0; stride >>= 1) {
    if (threadIdx.x < stride && partial[threadIdx.x + stride] > partial[threadIdx.x])
      partial[threadIdx.x] = partial[threadIdx.x + stride];
    __syncthreads();
  }
  best = partial[0];
  __syncthreads();
  scalar_t sum = 0;
  for (size_t column = threadIdx.x; column < state_size; column += blockDim.x) sum += exp(row[column] - best);
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int stride = 64; stride > 0; stride >>= 1) {
    if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    __syncthreads();
  }
  for (size_t column = threadIdx.x; column < state_size; column += blockDim.x)
    output[blockIdx.x * state_size + column] = exp(row[column] - best) / partial[0];
}

std::vector<at::Tensor> softmax_cuda_forward(at::Tensor input) {
  auto output = at::zeros_like(input);
  const auto state_size = input.size(input.ndimension() - 1);
  const int blocks = input.numel() / state_size;
  const int threads = 128;

  AT_DISPATCH_FLOATING_TYPES(input.type(), "softmax_forward_cuda", ([&] {
    softmax_cuda_forward_kernel<scalar_t><<<blocks, threads>>>(
        input.data<scalar_t>(),
        output.data<scalar_t>(),
        state_size);
  }));

  return {output};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &softmax_forward, "Softmax forward (CUDA)");
}
