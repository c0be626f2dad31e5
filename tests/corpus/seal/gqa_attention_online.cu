// task: modern/gqa_attention  dtypes: fp32, fp16, bf16  style: one warp per query, online softmax, head dimension in registers by template, switch with TORCH_CHECK(false)
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

template <typename scalar_t, int kPerLane>
__global__ void causal_attention(const scalar_t* __restrict__ q, const scalar_t* __restrict__ k, const scalar_t* __restrict__ v,
                                 scalar_t* __restrict__ out, int batch, int heads, int groups, int S,
                                 int D, float scale) {
  const int lane = threadIdx.x;
  const int64_t query = blockIdx.x * (int64_t)blockDim.y + threadIdx.y;  // (b * heads + h) * S + s
  const int s = query % S;
  const int64_t bh = query / S;
  const int64_t b = bh / heads, h = bh % heads;
  if (b >= batch) return;
  const int64_t kv = (b * groups + h / (heads / groups)) * S * D;

  float qr[kPerLane], acc[kPerLane];
#pragma unroll
  for (int j = 0; j < kPerLane; ++j) {
    const int d = lane + 32 * j;
    qr[j] = d < D ? (float)q[query * D + d] * scale : 0.f;
    acc[j] = 0.f;
  }
  float m = -INFINITY, l = 0.f;
  for (int t = 0; t <= s; ++t) {
    float dot = 0.f;
#pragma unroll
    for (int j = 0; j < kPerLane; ++j) {
      const int d = lane + 32 * j;
      if (d < D) dot += qr[j] * (float)k[kv + (int64_t)t * D + d];
    }
    for (int o = 16; o > 0; o >>= 1) dot += __shfl_xor_sync(0xffffffff, dot, o);
    const float m_new = fmaxf(m, dot);
    const float correction = expf(m - m_new), p = expf(dot - m_new);
    l = l * correction + p;
    m = m_new;
#pragma unroll
    for (int j = 0; j < kPerLane; ++j) {
      const int d = lane + 32 * j;
      if (d < D) acc[j] = acc[j] * correction + p * (float)v[kv + (int64_t)t * D + d];
    }
  }
#pragma unroll
  for (int j = 0; j < kPerLane; ++j) {
    const int d = lane + 32 * j;
    if (d < D) out[query * D + d] = (scalar_t)(acc[j] / l);
  }
}

template <typename scalar_t, int kPerLane>
void launch(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, at::Tensor& out) {
  const int B = q.size(0), heads = q.size(1), S = q.size(2), D = q.size(3);
  const int64_t queries = (int64_t)B * heads * S;
  causal_attention<scalar_t, kPerLane><<<(queries + 3) / 4, dim3(32, 4), 0, at::cuda::getCurrentCUDAStream()>>>(
      q.data_ptr<scalar_t>(), k.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), B, heads, k.size(1), S, D,
      1.0f / std::sqrt((float)D));
}

at::Tensor forward(at::Tensor q, at::Tensor k, at::Tensor v) {
  auto out = at::empty_like(q);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, q.scalar_type(), "causal_attention", [&] {
    switch ((q.size(3) + 31) / 32) {
      case 1: launch<scalar_t, 1>(q, k, v, out); break;
      case 2: launch<scalar_t, 2>(q, k, v, out); break;
      case 3: launch<scalar_t, 3>(q, k, v, out); break;
      case 4: launch<scalar_t, 4>(q, k, v, out); break;
      default: TORCH_CHECK(q.size(3) <= 256, "head dimension above 256"); launch<scalar_t, 8>(q, k, v, out);
    }
  });
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "causal grouped-query attention"); }
