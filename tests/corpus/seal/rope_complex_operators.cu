// task: modern/rope  dtypes: fp32  style: a device struct with overloaded operators and friends, passed by value; two launches from one host helper template
#include <torch/extension.h>

#include <tuple>

struct Turn {
  float re, im;
  __host__ __device__ Turn(float r = 0.f, float i = 0.f) : re(r), im(i) {}
  __device__ Turn operator*(const Turn& o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
  __device__ Turn& operator*=(const Turn& o) { return *this = *this * o; }
  friend __device__ Turn operator-(const Turn& t) { return Turn(-t.re, -t.im); }
};

struct Shape {
  int64_t rows;
  int sequence, heads, half;
};

__global__ void rotate(const float* __restrict__ in, const float* __restrict__ cosines, const float* __restrict__ sines,
                       float* __restrict__ out, const Shape shape) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= shape.rows * shape.half) return;
  const int64_t row = i / shape.half;
  const int d = static_cast<int>(i % shape.half), s = static_cast<int>(row / shape.heads % shape.sequence);
  const int64_t base = row * 2 * shape.half;
  Turn value(in[base + d], in[base + shape.half + d]);
  value *= Turn(cosines[static_cast<int64_t>(s) * shape.half + d], sines[static_cast<int64_t>(s) * shape.half + d]);
  out[base + d] = value.re;
  out[base + shape.half + d] = value.im;
}

template <class Tensor>
static Tensor turned(const Tensor& in, const Tensor& cosines, const Tensor& sines) {
  Tensor out = torch::empty_like(in);
  const int half = static_cast<int>(in.size(3) / 2);
  const Shape shape{in.size(0) * in.size(1) * in.size(2), static_cast<int>(in.size(1)), static_cast<int>(in.size(2)), half};
  const int64_t total = shape.rows * half;
  rotate<<<(total + 127) / 128, 128>>>(in.template data_ptr<float>(), cosines.template data_ptr<float>(),
                                       sines.template data_ptr<float>(), out.template data_ptr<float>(), shape);
  return out;
}

std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor q, torch::Tensor k, torch::Tensor cos, torch::Tensor sin) {
  return std::make_tuple(turned(q, cos, sin), turned(k, cos, sin));
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
