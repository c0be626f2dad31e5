// task: paper/llama_rmsnorm:backward  dtypes: fp32, fp16, bf16  style: weight gradient in partial sums per block and a second kernel, TensorOptions built by hand
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void rmsnorm_bwd(const scalar_t* __restrict__ dy, const scalar_t* __restrict__ x, const scalar_t* __restrict__ w,
                            const float* __restrict__ rstd, scalar_t* __restrict__ dx, float* __restrict__ dw_partial,
                            int64_t rows, int D) {
  float* __restrict__ dw_block = dw_partial + (int64_t)blockIdx.x * D;  // each column belongs to one thread
  __shared__ float lanes[8];
  for (int i = threadIdx.x; i < D; i += blockDim.x) dw_block[i] = 0.f;
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const float rs = rstd[r];
    float dot = 0.f;
    for (int i = threadIdx.x; i < D; i += blockDim.x)
      dot += (float)dy[r * D + i] * (float)w[i] * (float)x[r * D + i] * rs;
    for (int o = 16; o > 0; o >>= 1) dot += __shfl_xor_sync(0xffffffff, dot, o);
    __syncthreads();
    if (threadIdx.x % 32 == 0) lanes[threadIdx.x / 32] = dot;
    __syncthreads();
    dot = 0.f;
    for (int k = 0; k < 8; ++k) dot += lanes[k];
    dot /= D;
    for (int i = threadIdx.x; i < D; i += blockDim.x) {
      const float xhat = (float)x[r * D + i] * rs;
      const float g = (float)dy[r * D + i];
      dx[r * D + i] = (scalar_t)(rs * (g * (float)w[i] - xhat * dot));
      dw_block[i] += g * xhat;
    }
  }
}

template <typename scalar_t>
__global__ void sum_partials(const float* __restrict__ partial, scalar_t* __restrict__ dw, int blocks, int D) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < D) {
    float total = 0.f;
    for (int b = 0; b < blocks; ++b) total += partial[(int64_t)b * D + i];
    dw[i] = (scalar_t)total;
  }
}

std::tuple<torch::Tensor, torch::Tensor> backward(torch::Tensor grad_y, torch::Tensor rstd, torch::Tensor x, torch::Tensor weight,
                                                  double eps) {
  auto dy = grad_y.contiguous();
  const int D = x.size(-1);
  const int64_t rows = x.numel() / D;
  const int blocks = (int)std::min<int64_t>(rows, 128);
  auto options = torch::TensorOptions().dtype(torch::kFloat32).device(x.device());
  auto partial = torch::empty({blocks, D}, options);
  auto dx = torch::empty_like(x);
  auto dw = torch::empty_like(weight);
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, x.scalar_type(), "rmsnorm_bwd", ([&] {
    rmsnorm_bwd<scalar_t><<<blocks, 256, 0, stream>>>(dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(),
        weight.data_ptr<scalar_t>(), rstd.data_ptr<float>(), dx.data_ptr<scalar_t>(), partial.data_ptr<float>(), rows, D);
    sum_partials<scalar_t><<<(D + 255) / 256, 256, 0, stream>>>(partial.data_ptr<float>(), dw.data_ptr<scalar_t>(), blocks, D);
  }));
  return std::make_tuple(dx, dw);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
