// task: modern/topk_gating  dtypes: fp32, fp16, bf16  style: repeated warp argmax, fp32 and int64 outputs of one kernel, int argument named like a keyword elsewhere
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t>
__global__ void topk_gating(const scalar_t* __restrict__ logits, float* __restrict__ weights, int64_t* __restrict__ indices, int N, int E,
                            int k) {
  extern __shared__ float rows[];
  const int lane = threadIdx.x, n = blockIdx.x * blockDim.y + threadIdx.y;
  float* row = rows + threadIdx.y * E;
  if (n >= N) return;
  float m = -INFINITY;
  for (int e = lane; e < E; e += 32) {
    row[e] = (float)logits[(int64_t)n * E + e];
    m = fmaxf(m, row[e]);
  }
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  __syncwarp();
  float chosen_sum = 0.f;
  for (int i = 0; i < k; ++i) {
    float best = -INFINITY;
    int where = E;
    for (int e = lane; e < E; e += 32)
      if (row[e] > best || (row[e] == best && e < where)) best = row[e], where = e;
    for (int o = 16; o; o >>= 1) {
      const float other = __shfl_xor_sync(~0u, best, o);
      const int place = __shfl_xor_sync(~0u, where, o);
      if (other > best || (other == best && place < where)) best = other, where = place;
    }
    const float p = expf(best - m);
    chosen_sum += p;
    if (lane == 0) {
      weights[(int64_t)n * k + i] = p;
      indices[(int64_t)n * k + i] = where;
      row[where] = -INFINITY;
    }
    __syncwarp();
  }
  __syncwarp();
  for (int i = lane; i < k; i += 32) weights[(int64_t)n * k + i] /= chosen_sum;
}

std::tuple<at::Tensor, at::Tensor> forward(at::Tensor logits, int64_t k) {
  const int N = logits.size(0), E = logits.size(1);
  TORCH_CHECK(k >= 1 && k <= E, "cannot choose ", k, " of ", E, " experts");
  auto weights = at::empty({N, k}, logits.options().dtype(at::kFloat));
  auto indices = at::empty({N, k}, logits.options().dtype(at::kLong));
  const dim3 block(32, 4);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, logits.scalar_type(), "topk_gating", [&] {
    topk_gating<scalar_t><<<(N + 3) / 4, block, 4 * E * sizeof(float), at::cuda::getCurrentCUDAStream()>>>(
        logits.data_ptr<scalar_t>(), weights.data_ptr<float>(), indices.data_ptr<int64_t>(), N, E, k);
  });
  return {weights, indices};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, py::arg("logits"), py::arg("k") = 2); }
