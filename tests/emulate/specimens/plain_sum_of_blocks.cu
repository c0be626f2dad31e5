// task: paper/mnist_cross_entropy  dtypes: fp32  planted: race
#include <torch/extension.h>

__global__ void surprise(const float* predictions, const int64_t* targets, float* loss, int batch, int classes) {
  const int row = blockIdx.x;
  if (threadIdx.x != 0) return;
  const float* in = predictions + (int64_t)row * classes;
  float largest = in[0], sum = 0.f;
  for (int c = 1; c < classes; ++c) largest = fmaxf(largest, in[c]);
  for (int c = 0; c < classes; ++c) sum += expf(in[c] - largest);
  // Every block adds to the same number, and none waits for another.
  *loss += (largest + logf(sum) - in[targets[row]]) / batch;
}

torch::Tensor forward(torch::Tensor predictions, torch::Tensor targets) {
  const int batch = predictions.size(0), classes = predictions.size(1);
  auto loss = torch::zeros({}, predictions.options());
  surprise<<<batch, 32>>>(predictions.data_ptr<float>(), targets.data_ptr<int64_t>(), loss.data_ptr<float>(), batch,
                          classes);
  return loss;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
