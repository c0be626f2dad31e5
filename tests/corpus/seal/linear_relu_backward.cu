// task: paper/mnist_linear_relu:backward  dtypes: fp32  style: masked gradient in scratch by a functor kernel, then three products of our own, extern "C" kernel
#include <torch/extension.h>
#include <vector>

struct ReluMask {
  __device__ float operator()(float grad, float y) const { return y > 0.f ? grad : 0.f; }
};

template <typename Op>
__global__ void zip(const float* a, const float* b, float* out, int64_t n, Op op) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = op(a[i], b[i]);
}

// C(m, n) = sum over k of A(m, k) B(k, n), each operand given by its two strides
extern "C" __global__ void strided_product(const float* A, int am, int ak, const float* B, int bk, int bn, float* C, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m < M && n < N) {
    float acc = 0.f;
    for (int k = 0; k < K; ++k) acc += A[(int64_t)m * am + (int64_t)k * ak] * B[(int64_t)k * bk + (int64_t)n * bn];
    C[(int64_t)m * N + n] = acc;
  }
}

std::vector<torch::Tensor> backward(torch::Tensor grad_y, torch::Tensor y, torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  auto grad = grad_y.contiguous();
  auto alive = torch::empty_like(grad);
  zip<<<(alive.numel() + 255) / 256, 256>>>(grad.data_ptr<float>(), y.data_ptr<float>(), alive.data_ptr<float>(), alive.numel(), ReluMask{});

  const int B = x.size(0), I = x.size(1), O = weight.size(0);
  auto dx = torch::empty_like(x), dw = torch::empty_like(weight), db = torch::empty_like(bias);
  auto ones = torch::ones({B}, x.options());
  const dim3 block(16, 16);
  auto grid = [&](int columns, int rows) { return dim3((columns + 15) / 16, (rows + 15) / 16); };
  const float* g = alive.data_ptr<float>();
  strided_product<<<grid(I, B), block>>>(g, O, 1, weight.data_ptr<float>(), I, 1, dx.data_ptr<float>(), B, I, O);
  strided_product<<<grid(I, O), block>>>(g, 1, O, x.data_ptr<float>(), I, 1, dw.data_ptr<float>(), O, I, B);
  strided_product<<<grid(O, 1), block>>>(ones.data_ptr<float>(), 0, 1, g, O, 1, db.data_ptr<float>(), 1, O, B);
  return {dx, dw, db};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward, "linear + relu backward"); }
