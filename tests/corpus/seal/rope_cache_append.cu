// task: modern/rope_cache  dtypes: fp32, fp16, bf16  style: writes into arguments (declared mutations), blockIdx decoded by hand, __restrict__ everywhere
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename T>
__device__ void rotate_into(const T* __restrict__ from, T* __restrict__ to, const float* __restrict__ cos, const float* __restrict__ sin,
                            int half) {
  for (int d = threadIdx.x; d < half; d += blockDim.x) {
    const float a = (float)from[d], b = (float)from[d + half];
    to[d] = (T)(a * cos[d] - b * sin[d]);
    to[d + half] = (T)(b * cos[d] + a * sin[d]);
  }
}

template <typename T>
__global__ void rope_and_append(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, const float* __restrict__ cos,
                                const float* __restrict__ sin, T* __restrict__ key_cache, T* __restrict__ value_cache,
                                const int64_t* __restrict__ positions, T* __restrict__ out, int S, int H, int G, int D, int L) {
  const int64_t token = blockIdx.x;  // b * S + s
  const int b = token / S, s = token % S, head = blockIdx.y;
  const int64_t place = positions[b] + s;
  const float *c = cos + place * (D / 2), *n = sin + place * (D / 2);
  if (head < H) {
    rotate_into(q + (token * H + head) * D, out + (token * H + head) * D, c, n, D / 2);
  } else {
    const int64_t from = (token * G + head - H) * D, to = (((int64_t)b * L + place) * G + head - H) * D;
    rotate_into(k + from, key_cache + to, c, n, D / 2);
    for (int d = threadIdx.x; d < D; d += blockDim.x) value_cache[to + d] = v[from + d];
  }
}

torch::Tensor forward(torch::Tensor q, torch::Tensor k, torch::Tensor v, torch::Tensor cos, torch::Tensor sin, torch::Tensor key_cache,
                      torch::Tensor value_cache, torch::Tensor positions) {
  const int B = q.size(0), S = q.size(1), H = q.size(2), D = q.size(3), G = k.size(2), L = key_cache.size(1);
  auto out = torch::empty_like(q);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, q.scalar_type(), "rope_and_append", [&] {
    rope_and_append<scalar_t><<<dim3(B * S, H + G), 64, 0, at::cuda::getCurrentCUDAStream()>>>(
        q.data_ptr<scalar_t>(), k.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(), cos.data_ptr<float>(), sin.data_ptr<float>(),
        key_cache.data_ptr<scalar_t>(), value_cache.data_ptr<scalar_t>(), positions.data_ptr<int64_t>(), out.data_ptr<scalar_t>(), S, H,
        G, D, L);
  });
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
