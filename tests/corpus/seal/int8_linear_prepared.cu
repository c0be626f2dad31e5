// task: modern/int8_linear  dtypes: fp32  style: prepare returns two tensors, one of them packed four to a word; forward takes both before the bias
#include <torch/extension.h>

#include <vector>

__global__ void pack_four(const int8_t* weight, int* packed, int N, int K, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * words) return;
  const int n = i / words, first = i % words * 4;
  unsigned word = 0;
  for (int j = 0; j < 4; ++j) {
    const int value = first + j < K ? weight[static_cast<int64_t>(n) * K + first + j] : 0;
    word |= (static_cast<unsigned>(value) & 0xffu) << (8 * j);
  }
  packed[i] = static_cast<int>(word);
}

__global__ void packed_product(const float* x, const int* packed, const float* scales, const float* bias, float* y,
                               int N, int K, int words) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
  if (n >= N) return;
  float sum = 0.0f;
  for (int w = 0; w < words; ++w) {
    const int word = packed[n * words + w];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int k = 4 * w + j;
      if (k < K) sum += x[static_cast<int64_t>(m) * K + k] * (static_cast<float>(static_cast<signed char>(word >> (8 * j))) * scales[n]);
    }
  }
  y[static_cast<int64_t>(m) * N + n] = sum + bias[n];
}

std::vector<torch::Tensor> prepare(torch::Tensor weight, torch::Tensor scales) {
  const int N = weight.size(0), K = weight.size(1), words = (K + 3) / 4;
  auto packed = torch::empty({N, words}, weight.options().dtype(torch::kInt32));
  pack_four<<<(N * words + 127) / 128, 128>>>(weight.data_ptr<int8_t>(), packed.data_ptr<int>(), N, K, words);
  return {packed, scales};
}

torch::Tensor forward(torch::Tensor x, torch::Tensor packed, torch::Tensor scales, torch::Tensor bias) {
  const int M = x.size(0), K = x.size(1), N = packed.size(0), words = packed.size(1);
  torch::Tensor y = torch::empty({M, N}, x.options());
  packed_product<<<dim3((N + 63) / 64, M), 64>>>(x.data_ptr<float>(), packed.data_ptr<int>(), scales.data_ptr<float>(),
                                                 bias.data_ptr<float>(), y.data_ptr<float>(), N, K, words);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward);
  m.def("prepare", &prepare);
}
