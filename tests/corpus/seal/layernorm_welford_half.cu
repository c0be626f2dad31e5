// task: paper/layernorm  dtypes: fp32, fp16  style: Welford merged by shuffles, AT_DISPATCH_FLOATING_TYPES_AND_HALF, at::acc_type
#include <ATen/AccumulateType.h>
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

template <typename acc_t>
struct Welford {
  acc_t mean = 0;
  acc_t m2 = 0;
  acc_t count = 0;

  __device__ void add(acc_t value) {
    count += 1;
    const acc_t delta = value - mean;
    mean += delta / count;
    m2 += delta * (value - mean);
  }

  __device__ void merge(acc_t other_mean, acc_t other_m2, acc_t other_count) {
    if (other_count == 0) return;
    const acc_t total = count + other_count;
    const acc_t delta = other_mean - mean;
    mean += delta * other_count / total;
    m2 += other_m2 + delta * delta * count * other_count / total;
    count = total;
  }
};

template <typename scalar_t, typename acc_t>
__global__ void layer_norm_welford(const scalar_t* __restrict__ input, const scalar_t* __restrict__ gamma,
                                   const scalar_t* __restrict__ beta, scalar_t* __restrict__ output, int n, acc_t eps) {
  __shared__ acc_t means[32], m2s[32], counts[32];
  const scalar_t* x = input + static_cast<int64_t>(blockIdx.x) * n;
  scalar_t* y = output + static_cast<int64_t>(blockIdx.x) * n;

  Welford<acc_t> w;
  for (int i = threadIdx.x; i < n; i += blockDim.x) w.add(static_cast<acc_t>(x[i]));
  for (int offset = 16; offset > 0; offset >>= 1) {
    const acc_t mean = __shfl_down_sync(0xffffffff, w.mean, offset);
    const acc_t m2 = __shfl_down_sync(0xffffffff, w.m2, offset);
    const acc_t count = __shfl_down_sync(0xffffffff, w.count, offset);
    w.merge(mean, m2, count);
  }
  if (threadIdx.x % 32 == 0) {
    means[threadIdx.x / 32] = w.mean;
    m2s[threadIdx.x / 32] = w.m2;
    counts[threadIdx.x / 32] = w.count;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < blockDim.x / 32; ++i) w.merge(means[i], m2s[i], counts[i]);
    means[0] = w.mean;
    m2s[0] = rsqrt(w.m2 / n + eps);
  }
  __syncthreads();
  const acc_t mean = means[0], rstd = m2s[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const acc_t normed = (static_cast<acc_t>(x[i]) - mean) * rstd;
    y[i] = static_cast<scalar_t>(normed * static_cast<acc_t>(gamma[i]) + static_cast<acc_t>(beta[i]));
  }
}

torch::Tensor layer_norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
  TORCH_CHECK(weight.sizes() == bias.sizes(), "weight and bias must have the same shape");
  const int n = weight.numel();
  const int rows = x.numel() / n;
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "layer_norm_welford", ([&] {
    using acc_t = at::acc_type<scalar_t, true>;
    layer_norm_welford<scalar_t, acc_t><<<rows, 1024, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n,
        static_cast<acc_t>(eps));
  }));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &layer_norm, "layer norm (Welford)"); }
