// task: paper/mnist_conv_relu_pool  dtypes: fp32, fp16, bf16  style: direct convolution, ReLU and pooling in one kernel, weights of one filter in shared memory
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void conv_relu_pool(const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight,
                               const scalar_t* __restrict__ bias, scalar_t* __restrict__ y, int I, int O, int H, int W, int PH, int PW) {
  constexpr int kChunk = 64;  // input channels whose taps are held at a time
  __shared__ float taps[kChunk * 9];
  const int o = blockIdx.y, b = blockIdx.z;
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  const int ph = p / PW, pw = p % PW;
  const bool inside = p < PH * PW;
  float acc[2][2] = {{0.f, 0.f}, {0.f, 0.f}};
  for (int i0 = 0; i0 < I; i0 += kChunk) {
    const int channels = min(kChunk, I - i0);
    __syncthreads();
    for (int t = threadIdx.x; t < channels * 9; t += blockDim.x)
      taps[t] = static_cast<float>(weight[((int64_t)o * I + i0) * 9 + t]);
    __syncthreads();
    if (!inside) continue;
    for (int c = 0; c < channels; ++c) {
      const scalar_t* plane = x + (((int64_t)b * I + i0 + c) * H + 2 * ph) * W + 2 * pw;
#pragma unroll
      for (int dh = 0; dh < 2; ++dh)
#pragma unroll
        for (int dw = 0; dw < 2; ++dw)
#pragma unroll
          for (int k = 0; k < 9; ++k)
            acc[dh][dw] += static_cast<float>(plane[(dh + k / 3) * W + dw + k % 3]) * taps[c * 9 + k];
    }
  }
  if (inside) {
    const float best = fmaxf(fmaxf(acc[0][0], acc[0][1]), fmaxf(acc[1][0], acc[1][1]));
    y[(((int64_t)b * O + o) * PH + ph) * PW + pw] = static_cast<scalar_t>(fmaxf(best + static_cast<float>(bias[o]), 0.f));
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  const int B = x.size(0), I = x.size(1), H = x.size(2), W = x.size(3), O = weight.size(0);
  const int PH = (H - 2) / 2, PW = (W - 2) / 2;
  TORCH_CHECK(weight.size(2) == 3 && weight.size(3) == 3, "filters must be 3x3");
  auto y = torch::empty({B, O, PH, PW}, x.options());
  const dim3 grid((PH * PW + 127) / 128, O, B);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "conv_relu_pool", [&] {
    conv_relu_pool<scalar_t><<<grid, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), I, O, H, W, PH, PW);
  });
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "conv + relu + pool"); }
