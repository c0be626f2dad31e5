// task: paper/layernorm  dtypes: fp32  style: plain two-pass kernel, one block per sample, static kernel, at::Tensor signatures, optional-free
#include <torch/extension.h>

static const int kBlock = 512;

static __device__ float blockSum(float v, float* buf) {
    buf[threadIdx.x] = v;
    __syncthreads();
    for (int half = kBlock / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) buf[threadIdx.x] += buf[threadIdx.x + half];
        __syncthreads();
    }
    float total = buf[0];
    __syncthreads();
    return total;
}

static __global__ void layernormKernel(const float* x, const float* w, const float* b, float* y, int64_t n, float eps) {
    __shared__ float buf[kBlock];
    x += blockIdx.x * n;
    y += blockIdx.x * n;

    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < n; i += kBlock) sum += x[i];
    const float mean = blockSum(sum, buf) / n;

    float sq = 0.0f;
    for (int64_t i = threadIdx.x; i < n; i += kBlock) {
        float d = x[i] - mean;
        sq += d * d;
    }
    const float rstd = rsqrtf(blockSum(sq, buf) / n + eps);

    for (int64_t i = threadIdx.x; i < n; i += kBlock) y[i] = (x[i] - mean) * rstd * w[i] + b[i];
}

at::Tensor forward(at::Tensor x, at::Tensor weight, at::Tensor bias, double eps) {
    AT_ASSERT(x.is_cuda());
    at::Tensor y = at::empty_like(x);
    const int64_t n = weight.numel();
    layernormKernel<<<x.numel() / n, kBlock>>>(x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(),
                                               y.data_ptr<float>(), n, (float)eps);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "LayerNorm forward"); }
