// task: modern/decode_attention  dtypes: fp32, fp16, bf16  style: flash decoding in two kernels, per-split scratch of running maxima and sums, int32 lengths on the device
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

constexpr int kSplits = 8;

template <typename scalar_t>
__global__ void decode_split(const scalar_t* __restrict__ q, const scalar_t* __restrict__ keys, const scalar_t* __restrict__ values,
                             const int* __restrict__ lengths, float* __restrict__ partial, float2* __restrict__ running, int heads,
                             int groups, int L, int D, float scale) {
  extern __shared__ float accumulator[];  // D sums
  const int split = blockIdx.x, h = blockIdx.y, b = blockIdx.z, g = h / (heads / groups);
  const int length = lengths[b], per = (length + kSplits - 1) / kSplits;
  const int first = split * per, last = min(first + per, length);
  const scalar_t* query = q + ((int64_t)b * heads + h) * D;
  for (int d = threadIdx.x; d < D; d += 32) accumulator[d] = 0.f;
  float m = -INFINITY, l = 0.f;
  for (int t = first; t < last; ++t) {
    const int64_t at = (((int64_t)b * L + t) * groups + g) * D;
    float dot = 0.f;
    for (int d = threadIdx.x; d < D; d += 32) dot += (float)query[d] * (float)keys[at + d];
    for (int o = 16; o; o >>= 1) dot += __shfl_xor_sync(0xffffffff, dot, o);
    dot *= scale;
    const float next = fmaxf(m, dot), keep = expf(m - next), p = expf(dot - next);
    l = l * keep + p;
    m = next;
    for (int d = threadIdx.x; d < D; d += 32) accumulator[d] = accumulator[d] * keep + p * (float)values[at + d];
  }
  const int64_t slot = ((int64_t)b * heads + h) * kSplits + split;
  for (int d = threadIdx.x; d < D; d += 32) partial[slot * D + d] = accumulator[d];
  if (threadIdx.x == 0) running[slot] = make_float2(m, l);
}

template <typename scalar_t>
__global__ void decode_merge(const float* __restrict__ partial, const float2* __restrict__ running, scalar_t* __restrict__ out, int D) {
  const int64_t bh = blockIdx.x;
  float m = -INFINITY;
  for (int s = 0; s < kSplits; ++s) m = fmaxf(m, running[bh * kSplits + s].x);
  float weights[kSplits], l = 0.f;
  for (int s = 0; s < kSplits; ++s) {
    const float2 r = running[bh * kSplits + s];
    weights[s] = r.y > 0.f ? expf(r.x - m) : 0.f;
    l += weights[s] * r.y;
  }
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float sum = 0.f;
    for (int s = 0; s < kSplits; ++s) sum += weights[s] * partial[(bh * kSplits + s) * D + d];
    out[bh * D + d] = (scalar_t)(sum / l);
  }
}

torch::Tensor forward(torch::Tensor q, torch::Tensor key_cache, torch::Tensor value_cache, torch::Tensor lengths) {
  const int B = q.size(0), heads = q.size(1), D = q.size(2), L = key_cache.size(1), groups = key_cache.size(2);
  auto options = q.options().dtype(torch::kFloat32);
  auto partial = torch::empty({B, heads, kSplits, D}, options);
  auto running = torch::empty({B, heads, kSplits, 2}, options);
  auto out = torch::empty_like(q);
  auto stream = at::cuda::getCurrentCUDAStream();
  auto* pairs = reinterpret_cast<float2*>(running.data_ptr<float>());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, q.scalar_type(), "decode", [&] {
    decode_split<scalar_t><<<dim3(kSplits, heads, B), 32, D * sizeof(float), stream>>>(
        q.data_ptr<scalar_t>(), key_cache.data_ptr<scalar_t>(), value_cache.data_ptr<scalar_t>(), lengths.data_ptr<int>(),
        partial.data_ptr<float>(), pairs, heads, groups, L, D, 1.0f / sqrtf(D));
    decode_merge<scalar_t><<<B * heads, 64, 0, stream>>>(partial.data_ptr<float>(), pairs, out.data_ptr<scalar_t>(), D);
  });
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
