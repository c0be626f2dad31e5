// task: modern/group_norm_silu  dtypes: fp32, fp16, bf16  style: one block per sample and group, int64_t and double arguments, contiguity by .contiguous(), torch::Device guard
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

template <typename scalar_t>
__global__ void group_norm_silu(const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight, const scalar_t* __restrict__ bias,
                                scalar_t* __restrict__ y, int64_t channels, int64_t groups, int64_t pixels, float eps) {
  __shared__ float buffer[256];
  const int64_t per_group = channels / groups, count = per_group * pixels;
  const int64_t base = blockIdx.x * count, first_channel = blockIdx.x % groups * per_group;

  auto total = [&](float v) {
    buffer[threadIdx.x] = v;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
      if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
      __syncthreads();
    }
    const float result = buffer[0];
    __syncthreads();
    return result;
  };

  float sum = 0.f;
  for (int64_t i = threadIdx.x; i < count; i += 256) sum += static_cast<float>(x[base + i]);
  const float mean = total(sum) / count;
  float squares = 0.f;
  for (int64_t i = threadIdx.x; i < count; i += 256) {
    const float d = static_cast<float>(x[base + i]) - mean;
    squares += d * d;
  }
  const float rstd = rsqrtf(total(squares) / count + eps);
  for (int64_t i = threadIdx.x; i < count; i += 256) {
    const int64_t c = first_channel + i / pixels;
    const float v = (static_cast<float>(x[base + i]) - mean) * rstd * static_cast<float>(weight[c]) + static_cast<float>(bias[c]);
    y[base + i] = static_cast<scalar_t>(v / (1.f + expf(-v)));
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t groups, double eps) {
  TORCH_CHECK(x.size(1) % groups == 0, x.size(1), " channels do not divide into ", groups, " groups");
  const c10::cuda::CUDAGuard guard(x.device());
  x = x.contiguous();
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "group_norm_silu", [&] {
    group_norm_silu<scalar_t><<<x.size(0) * groups, 256, 0, at::cuda::getCurrentCUDAStream(x.device().index())>>>(
        x.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.size(1), groups,
        x.size(2) * x.size(3), eps);
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
