// task: modern/adamw  dtypes: fp32, bf16  style: multi-tensor apply, arrays of pointers inside a struct passed by value, several launches
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>
#include <vector>

constexpr int kTensors = 24;

template <typename T>
struct Group {
  T* param[kTensors];
  const T* grad[kTensors];
  T* exp_avg[kTensors];
  T* exp_avg_sq[kTensors];
  int64_t numel[kTensors];
};

struct Hyper {
  float lr, beta1, rest1, beta2, rest2, eps, decay, correction1, correction2;
};

template <typename T>
__global__ void adamw_group(Group<T> group, Hyper h) {
  const int t = blockIdx.y;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < group.numel[t]; i += (int64_t)gridDim.x * blockDim.x) {
    const float g = static_cast<float>(group.grad[t][i]);
    const float m = h.beta1 * static_cast<float>(group.exp_avg[t][i]) + h.rest1 * g;
    const float v = h.beta2 * static_cast<float>(group.exp_avg_sq[t][i]) + h.rest2 * g * g;
    const float p = static_cast<float>(group.param[t][i]) * (1.f - h.lr * h.decay);
    group.param[t][i] = static_cast<T>(p - h.lr * (m / h.correction1) / (sqrtf(v / h.correction2) + h.eps));
    group.exp_avg[t][i] = static_cast<T>(m);
    group.exp_avg_sq[t][i] = static_cast<T>(v);
  }
}

void forward(const std::vector<at::Tensor>& params, const std::vector<at::Tensor>& grads, const std::vector<at::Tensor>& exp_avgs,
             const std::vector<at::Tensor>& exp_avg_sqs, double lr, double beta1, double beta2, double eps, double weight_decay,
             int64_t step) {
  const Hyper h{float(lr), float(beta1), float(1 - beta1), float(beta2), float(1 - beta2), float(eps), float(weight_decay),
                float(1 - std::pow(beta1, step)), float(1 - std::pow(beta2, step))};
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, params.at(0).scalar_type(), "adamw_group", [&] {
    for (size_t first = 0; first < params.size(); first += kTensors) {
      const size_t count = std::min<size_t>(kTensors, params.size() - first);
      Group<scalar_t> group{};
      for (size_t i = 0; i < count; ++i) {
        group.param[i] = params[first + i].data_ptr<scalar_t>();
        group.grad[i] = grads[first + i].data_ptr<scalar_t>();
        group.exp_avg[i] = exp_avgs[first + i].data_ptr<scalar_t>();
        group.exp_avg_sq[i] = exp_avg_sqs[first + i].data_ptr<scalar_t>();
        group.numel[i] = params[first + i].numel();
      }
      adamw_group<<<dim3(32, count), 256, 0, at::cuda::getCurrentCUDAStream()>>>(group, h);
    }
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
