// Small kernels with one mistake each (b_), ones that hardware forgives (t_), and clean ones (c_).
#include <torch/extension.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define ENTRY(NAME, GRID, BLOCK, SMEM)                                                     \
  torch::Tensor h_##NAME(torch::Tensor x) {                                                \
    auto y = torch::zeros({4096}, x.options());                                            \
    NAME<<<GRID, BLOCK, SMEM>>>(x.data_ptr<float>(), y.data_ptr<float>(), (int)x.numel()); \
    return y;                                                                              \
  }
#define K(NAME) __global__ void NAME(const float* x, float* y, int n)
K(c_tree) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
ENTRY(c_tree, 2, 256, 0)
K(c_long) {
  float sum = 0;
  for (int i = 0; i < 20000; ++i) sum += x[i % n];
  y[threadIdx.x] = sum;
}
ENTRY(c_long, 1, 1, 0)
K(c_warp) {
  float v = x[threadIdx.x];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  __shared__ float s[32];
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x == 0) y[blockIdx.x] = v;
  }
}
ENTRY(c_warp, 2, 256, 0)
K(c_syncwarp) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncwarp();
  float v = s[t ^ 1];
  __syncwarp();
  s[t] = v * 2;
  __syncwarp();
  y[t] = s[t ^ 2];
}
ENTRY(c_syncwarp, 1, 64, 0)
K(c_partial) {
  __shared__ float s[64];
  int t = threadIdx.x, h = (t % 32) / 16;
  unsigned m = 0xffffu << (16 * h);
  s[t] = x[t];
  __syncwarp(m);
  float v = s[t ^ 15];
  __syncwarp(m);
  s[t] = v;
  if (h == 0) {
    __syncwarp(m);
    v += s[t ^ 3];
  } else {
    __syncwarp(m);
    v -= s[t ^ 5];
  }
  y[t] = v;
}
ENTRY(c_partial, 1, 64, 0)
K(c_double) {
  extern __shared__ float buf[];
  int t = threadIdx.x;
  float a = 0;
  buf[t] = x[t];
  __syncthreads();
  for (int k = 0; k < 8; k++) {
    float* cur = buf + (k & 1) * 128;
    float* nxt = buf + ((k + 1) & 1) * 128;
    if (k < 7) nxt[t] = x[(k + 1) * 128 + t];
    a += cur[127 - t];
    __syncthreads();
  }
  y[t] = a;
}
ENTRY(c_double, 1, 128, 1024)
K(c_atomic) {
  __shared__ int c;
  if (threadIdx.x == 0) c = 0;
  __syncthreads();
  if (x[threadIdx.x] > 0) atomicAdd(&c, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&y[0], (float)c);
  atomicAdd(y + 1 + threadIdx.x % 7, 1.f);
}
ENTRY(c_atomic, 4, 128, 0)
__device__ unsigned ticket = 0;
__device__ float parts[64];
K(c_lastblock) {
  __shared__ float s[64];
  __shared__ bool last;
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  if (t == 0) {
    float a = 0;
    for (int i = 0; i < 64; i++) a += s[i];
    parts[blockIdx.x] = a;
    __threadfence();
    unsigned k = atomicInc(&ticket, gridDim.x - 1);
    last = k == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    float a = 0;
    for (int i = 0; i < gridDim.x; i++) a += parts[i];
    y[0] = a;
  }
}
ENTRY(c_lastblock, 8, 64, 0)
K(c_half) {
  __shared__ __half s[64];
  int t = threadIdx.x;
  s[t] = __float2half(x[t]);
  __syncthreads();
  y[t] = __half2float(s[63 - t]);
}
ENTRY(c_half, 1, 64, 0)
K(c_rows) {
  __shared__ float s[8][33];
  int t = threadIdx.x;
  for (int i = t; i < 8 * 33; i += 64) s[0][i] = x[i];
  __syncthreads();
  y[t] = s[t % 8][t % 32];
}
ENTRY(c_rows, 1, 64, 0)
K(c_volatile) {
  const volatile float* all = x;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += all[i];
  y[threadIdx.x] = sum;
}
ENTRY(c_volatile, 1, 32, 0)
K(c_gives_up) {
  const volatile float* flag = y;
  int looks = 0;
  while (looks < 3000 && flag[100] == 0) ++looks;
  y[threadIdx.x] = looks;
}
ENTRY(c_gives_up, 1, 32, 0)
K(c_coalesced) {
  if (threadIdx.x % 3 == 0) {
    auto g = cg::coalesced_threads();
    float v = cg::reduce(g, x[threadIdx.x], cg::plus<float>());
    if (g.thread_rank() == 0) y[threadIdx.x] = v;
  }
}
ENTRY(c_coalesced, 1, 64, 0)
K(b_oob_read) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i + 1];
}
ENTRY(b_oob_read, 8, 512, 0)
K(b_oob_write) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i % n];
}
ENTRY(b_oob_write, 9, 512, 0)
K(b_oob_shared) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t + 1] = x[t];
  __syncthreads();
  y[t] = s[t + 1];
}
ENTRY(b_oob_shared, 1, 64, 0)
K(b_oob_dyn) {
  extern __shared__ float d[];
  d[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = d[threadIdx.x];
}
ENTRY(b_oob_dyn, 1, 64, 128)
K(b_oob_local) {
  float l[4];
  for (int i = 0; i <= 4; i++) l[i] = x[i];
  float a = 0;
  for (int i = 0; i < 4; i++) a += l[(i + n) % 4];
  y[0] = a;
}
ENTRY(b_oob_local, 1, 1, 0)
K(b_misaligned) {
  float4 v = *reinterpret_cast<const float4*>(x + 1 + 4 * threadIdx.x);
  y[threadIdx.x] = v.x + v.w;
}
ENTRY(b_misaligned, 1, 32, 0)
K(b_uninit) {
  __shared__ float s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}
ENTRY(b_uninit, 1, 64, 0)
K(b_race_raw) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}
ENTRY(b_race_raw, 1, 64, 0)
K(b_race_war) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  float v = s[(t + 1) % 64];
  s[t] = v;
  __syncthreads();
  y[t] = s[t];
}
ENTRY(b_race_war, 1, 64, 0)
K(b_race_ww) {
  __shared__ float s;
  s = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s;
}
ENTRY(b_race_ww, 1, 64, 0)
K(t_race_same) {
  __shared__ int s;
  if (threadIdx.x > 5) s = 7;
  __syncthreads();
  y[threadIdx.x] = s;
}
ENTRY(t_race_same, 1, 64, 0)
K(b_race_global) { y[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x]; }
ENTRY(b_race_global, 4, 64, 0)
K(b_race_global2) {
  int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = x[i];
  __syncthreads();
  y[i] = y[(i + 64) % 256];
}
ENTRY(b_race_global2, 4, 64, 0)
K(b_no_atomic) { y[0] += x[threadIdx.x]; }
ENTRY(b_no_atomic, 2, 64, 0)
K(b_mixed_atomic) {
  if (threadIdx.x == 0) y[0] = 1;
  atomicAdd(y, x[threadIdx.x]);
}
ENTRY(b_mixed_atomic, 1, 64, 0)
K(b_no_fence) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    y[1 + blockIdx.x] = x[blockIdx.x];
    unsigned k = atomicInc(&ticket, gridDim.x - 1);
    last = k == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float a = 0;
    for (int i = 0; i < gridDim.x; i++) a += y[1 + i];
    y[0] = a;
  }
}
ENTRY(b_no_fence, 8, 32, 0)
K(b_bar_div) {
  if (threadIdx.x < 32) __syncthreads();
  y[threadIdx.x] = 1;
  if (threadIdx.x >= 32) {
    __syncthreads();
  }
}
ENTRY(b_bar_div, 1, 64, 0)
K(b_shfl_div) {
  float v = x[threadIdx.x];
  if (threadIdx.x % 32 < 7) v += __shfl_down_sync(0xffffffff, v, 1);
  __syncthreads();
  y[threadIdx.x] = v;
}
ENTRY(b_shfl_div, 1, 64, 0)
K(b_syncwarp_missing) {
  __shared__ float s[32];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[threadIdx.x ^ 1];
}
ENTRY(b_syncwarp_missing, 1, 32, 0)
K(b_partial_wrong) {
  __shared__ float s[32];
  int t = threadIdx.x;
  unsigned m = t < 16 ? 0xffffu : 0xffff0000u;
  s[t] = x[t];
  __syncwarp(m);
  y[t] = s[t ^ 16];
}
ENTRY(b_partial_wrong, 1, 32, 0)
K(t_shfl_fence) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  float v = __shfl_sync(0xffffffff, x[t], 0);
  y[t] = s[t ^ 1] + v;
}
ENTRY(t_shfl_fence, 1, 32, 0)
K(b_mask_self) {
  float v = __shfl_sync(0x0000ffff, x[threadIdx.x], 0);
  y[threadIdx.x] = v;
}
ENTRY(b_mask_self, 1, 32, 0)
K(b_block_big) { y[0] = 1; }
ENTRY(b_block_big, 1, 2048, 0)
K(b_hang) {
  volatile float* f = y;
  while (f[100] == 0) {
  }
  y[0] = 1;
}
ENTRY(b_hang, 1, 32, 0)
K(b_shift) { y[0] = 1 << (n + 40); }
ENTRY(b_shift, 1, 1, 0)
K(b_null) {
  const float* p = n > 0 ? nullptr : x;
  y[0] = *p;
}
ENTRY(b_null, 1, 1, 0)
K(b_assert) {
  assert(n < 0);
  y[0] = 1;
}
ENTRY(b_assert, 1, 1, 0)
K(b_div) { y[0] = 7 / (n - n); }
ENTRY(b_div, 1, 1, 0)
K(b_exit_bar) {
  if (threadIdx.x >= 60) return;
  __syncthreads();
  y[threadIdx.x] = 1;
}
ENTRY(b_exit_bar, 1, 64, 0)
__global__ void b_unwritten_k(const float* x, float* y, int n) {
  int i = threadIdx.x;
  if (i < n - 5) y[i] = x[i];
}
torch::Tensor h_b_unwritten(torch::Tensor x) {
  auto y = torch::empty({64}, x.options());
  b_unwritten_k<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), 64);
  return y;
}
torch::Tensor h_b_nowork(torch::Tensor x) { return x; }
#define D(NAME) m.def(#NAME, &h_##NAME);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  D(c_tree)
  D(c_long) D(c_warp) D(c_syncwarp) D(c_partial) D(c_double) D(c_atomic) D(c_lastblock) D(c_half) D(c_rows)
      D(c_volatile) D(c_gives_up) D(c_coalesced) D(b_oob_read) D(b_oob_write) D(b_oob_shared) D(b_oob_dyn) D(b_oob_local) D(b_misaligned)
          D(b_uninit) D(b_race_raw) D(b_race_war) D(b_race_ww) D(t_race_same) D(b_race_global) D(b_race_global2)
              D(b_no_atomic) D(b_mixed_atomic) D(b_no_fence) D(b_bar_div) D(b_shfl_div) D(b_syncwarp_missing)
                  D(b_partial_wrong) D(t_shfl_fence) D(b_mask_self) D(b_block_big) D(b_hang) D(b_shift) D(b_null)
                      D(b_assert) D(b_div) D(b_exit_bar) D(b_unwritten) D(b_nowork)
}
