// task: modern/adamw  dtypes: fp32  style: pointer tables uploaded with cudaMemcpyAsync from pageable memory, lists of tensors, nothing returned
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>
#include <cmath>
#include <vector>

struct TensorEntry {
  float* param;
  const float* grad;
  float* exp_avg;
  float* exp_avg_sq;
  int64_t numel;
};

// One minus each beta comes from the host in double: 1.f - 0.999f is wrong in the fifth digit.
__global__ void adamw_step(const TensorEntry* table, float lr, float beta1, float rest1, float beta2, float rest2, float eps,
                           float decay, float correction1, float correction2) {
  const TensorEntry e = table[blockIdx.y];
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < e.numel; i += (int64_t)gridDim.x * blockDim.x) {
    const float g = e.grad[i];
    const float m = beta1 * e.exp_avg[i] + rest1 * g;
    const float v = beta2 * e.exp_avg_sq[i] + rest2 * g * g;
    e.exp_avg[i] = m;
    e.exp_avg_sq[i] = v;
    e.param[i] = e.param[i] * (1.f - lr * decay) - lr * (m / correction1) / (sqrtf(v / correction2) + eps);
  }
}

void forward(std::vector<torch::Tensor> params, std::vector<torch::Tensor> grads, std::vector<torch::Tensor> exp_avgs,
             std::vector<torch::Tensor> exp_avg_sqs, double lr, double beta1, double beta2, double eps, double weight_decay,
             int64_t step) {
  TORCH_CHECK(!params.empty() && params.size() == grads.size());
  std::vector<TensorEntry> entries;
  entries.reserve(params.size());
  for (size_t i = 0; i < params.size(); ++i)
    entries.push_back({params[i].data_ptr<float>(), grads[i].data_ptr<float>(), exp_avgs[i].data_ptr<float>(),
                       exp_avg_sqs[i].data_ptr<float>(), params[i].numel()});
  const int64_t bytes = entries.size() * sizeof(TensorEntry);
  auto table = torch::empty({bytes}, params[0].options().dtype(torch::kUInt8));
  auto stream = at::cuda::getCurrentCUDAStream();
  C10_CUDA_CHECK(cudaMemcpyAsync(table.data_ptr(), entries.data(), bytes, cudaMemcpyHostToDevice, stream));
  adamw_step<<<dim3(64, entries.size()), 256, 0, stream>>>(
      reinterpret_cast<const TensorEntry*>(table.data_ptr()), lr, beta1, 1.0 - beta1, beta2, 1.0 - beta2, eps, weight_decay,
      static_cast<float>(1.0 - std::pow(beta1, step)), static_cast<float>(1.0 - std::pow(beta2, step)));
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "AdamW step over a list of tensors"); }
