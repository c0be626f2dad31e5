// task: paper/mnist_cross_entropy:backward  dtypes: fp32, fp16, bf16  style: gradient of a scalar read on the device, index arithmetic over a flat grid, AT_DISPATCH_SWITCH
#include <torch/extension.h>
#include <ATen/Dispatch.h>
#include <c10/cuda/CUDAStream.h>

template <typename T>
__global__ void cross_entropy_bwd(const float* grad, const float* lse, const T* logits, const int64_t* targets, T* out, int batch,
                                  int classes) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (int64_t)batch * classes) return;
  const int row = i / classes, column = i % classes;
  const float p = expf((float)logits[i] - lse[row]);
  out[i] = (T)((p - (column == targets[row] ? 1.0f : 0.0f)) * *grad / batch);
}

at::Tensor backward(const at::Tensor& grad_loss, const at::Tensor& lse, const at::Tensor& predictions, const at::Tensor& targets) {
  auto result = at::empty_like(predictions);
  const int batch = predictions.size(0), classes = predictions.size(1);
  const int64_t blocks = (predictions.numel() + 255) / 256;
  auto launch = [&](auto tag) {
    using T = decltype(tag);
    cross_entropy_bwd<T><<<blocks, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
        grad_loss.data_ptr<float>(), lse.data_ptr<float>(), predictions.data_ptr<T>(), targets.data_ptr<int64_t>(),
        result.data_ptr<T>(), batch, classes);
  };
  AT_DISPATCH_SWITCH(predictions.scalar_type(), "cross_entropy_bwd",
                     AT_DISPATCH_CASE(at::kFloat, [&] { launch(scalar_t{}); })
                     AT_DISPATCH_CASE(at::kHalf, [&] { launch(scalar_t{}); })
                     AT_DISPATCH_CASE(at::kBFloat16, [&] { launch(scalar_t{}); }));
  return result;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
