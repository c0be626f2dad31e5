// task: modern/rope  dtypes: fp32  style: side stream from the pool, events to fork and join, CUDAStreamGuard
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

__global__ void rotate_rows(const float* x, const float* cos, const float* sin, float* y, int S, int heads, int half) {
  const int64_t vector = blockIdx.x;
  const int s = vector / heads % S;
  for (int d = threadIdx.x; d < half; d += blockDim.x) {
    const float a = x[vector * 2 * half + d], b = x[vector * 2 * half + half + d];
    const float c = cos[s * half + d], n = sin[s * half + d];
    y[vector * 2 * half + d] = a * c - b * n;
    y[vector * 2 * half + half + d] = b * c + a * n;
  }
}

static void launch(const torch::Tensor& x, const torch::Tensor& cos, const torch::Tensor& sin, torch::Tensor& y, cudaStream_t stream) {
  const int half = x.size(3) / 2;
  rotate_rows<<<x.numel() / (2 * half), 64, 0, stream>>>(x.data_ptr<float>(), cos.data_ptr<float>(), sin.data_ptr<float>(),
                                                         y.data_ptr<float>(), x.size(1), x.size(2), half);
}

std::vector<torch::Tensor> forward(torch::Tensor q, torch::Tensor k, torch::Tensor cos, torch::Tensor sin) {
  auto q_out = torch::empty_like(q), k_out = torch::empty_like(k);
  auto main_stream = at::cuda::getCurrentCUDAStream();
  auto side_stream = c10::cuda::getStreamFromPool();
  at::cuda::CUDAEvent fork, join;
  fork.record(main_stream);
  fork.block(side_stream);
  {
    c10::cuda::CUDAStreamGuard guard(side_stream);
    launch(k, cos, sin, k_out, at::cuda::getCurrentCUDAStream());
    join.record(side_stream);
  }
  launch(q, cos, sin, q_out, main_stream);
  join.block(main_stream);
  return {q_out, k_out};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
