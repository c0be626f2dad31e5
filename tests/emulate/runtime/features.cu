// What the machine can do, asserted by the kernels themselves (c_, k_), traffic to be counted (n_), and misuse (b_).
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cub/cub.cuh>
#include <mma.h>
namespace cg = cooperative_groups;
using namespace nvcuda;
#define ENTRY(NAME, GRID, BLOCK, SMEM)                                                     \
  torch::Tensor h_##NAME(torch::Tensor x) {                                                \
    auto y = torch::zeros({4096}, x.options());                                            \
    NAME<<<GRID, BLOCK, SMEM>>>(x.data_ptr<float>(), y.data_ptr<float>(), (int)x.numel()); \
    return y;                                                                              \
  }
#define K(NAME) __global__ void NAME(const float* x, float* y, int n)
__device__ __forceinline__ void cpa(void* s, const void* g) {
  unsigned a = (unsigned)__cvta_generic_to_shared(s);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(a), "l"(g));
}
K(c_cpasync) {
  __shared__ alignas(16) float s[256];
  int t = threadIdx.x;
  cpa(&s[4 * t], x + 4 * t);
  asm volatile("cp.async.commit_group;\n");
  asm volatile("cp.async.wait_group 0;\n");
  __syncthreads();
  y[t] = s[255 - t];
}
ENTRY(c_cpasync, 1, 64, 0)
K(c_cpasync_hint) {
  __shared__ alignas(16) float s[256];
  int t = threadIdx.x;
  unsigned a = (unsigned)__cvta_generic_to_shared(&s[4 * t]);
  unsigned long long policy = 0x12F0000000000000ull;
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;\n" ::"r"(a), "l"(x + 4 * t), "l"(policy));
  asm volatile("cp.async.wait_all;\n");
  __syncthreads();
  if (s[255 - t] != x[255 - t]) asm volatile("trap;");
  float mine;
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(mine) : "l"(x + t), "l"(policy));
  asm volatile("red.global.add.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(y + t), "f"(s[255 - t] + 0 * mine), "l"(policy));
}
ENTRY(c_cpasync_hint, 1, 64, 0)
K(b_cpasync_nowait) {
  __shared__ alignas(16) float s[256];
  int t = threadIdx.x;
  cpa(&s[4 * t], x + 4 * t);
  asm volatile("cp.async.commit_group;\n");
  __syncthreads();
  y[t] = s[255 - t];
}
ENTRY(b_cpasync_nowait, 1, 64, 0)
K(b_cpasync_nobar) {
  __shared__ alignas(16) float s[256];
  int t = threadIdx.x;
  cpa(&s[4 * t], x + 4 * t);
  asm volatile("cp.async.commit_group;\n");
  asm volatile("cp.async.wait_all;\n");
  y[t] = s[255 - t];
}
ENTRY(b_cpasync_nobar, 1, 64, 0)
K(b_pipe_prior) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], x + t, 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[1][t], x + 64 + t, 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  y[t] = s[0][t ^ 1];
  y[64 + t] = s[1][t];
}
ENTRY(b_pipe_prior, 1, 64, 0)
K(c_cub) {
  using R = cub::BlockReduce<float, 128>;
  __shared__ typename R::TempStorage tmp;
  float v = R(tmp).Sum(x[threadIdx.x]);
  __syncthreads();
  float m = R(tmp).Reduce(x[threadIdx.x], cub::Max());
  if (threadIdx.x == 0) y[0] = v, y[1] = m;
}
ENTRY(c_cub, 1, 128, 0)
K(b_cub_reuse) {
  using R = cub::BlockReduce<float, 128>;
  __shared__ typename R::TempStorage tmp;
  float v = R(tmp).Sum(x[threadIdx.x]);
  float m = R(tmp).Reduce(x[threadIdx.x], cub::Max());
  if (threadIdx.x == 0) y[0] = v, y[1] = m;
}
ENTRY(b_cub_reuse, 1, 128, 0)
K(c_wmma) {
  __shared__ __half a[256], b[256];
  for (int i = threadIdx.x; i < 256; i += 32) a[i] = __float2half(i % 7), b[i] = __float2half(i % 5);
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 1.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(y, fc, 16, wmma::mem_row_major);
  __syncwarp();
  float want = 1;
  int r = 3, c = 5;
  for (int k = 0; k < 16; k++) want += float((r * 16 + k) % 7) * float((c * 16 + k) % 5);
  if (threadIdx.x == 0) assert(y[r * 16 + c] == want);
}
ENTRY(c_wmma, 1, 32, 0)
K(c_mma) {
  __shared__ alignas(16) __half a[16 * 16], b[8 * 16];
  int l = threadIdx.x;
  for (int i = l; i < 256; i += 32) a[i] = __float2half((i * 3) % 11);
  for (int i = l; i < 128; i += 32) b[i] = __float2half((i * 5) % 7);
  __syncwarp();
  unsigned ra[4], rb[2];
  unsigned pa = (unsigned)__cvta_generic_to_shared(a + (l % 16) * 16 + (l / 16) * 8),
           pb = (unsigned)__cvta_generic_to_shared(b + (l % 8) * 16 + (l / 8 % 2) * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
  float d[4] = {1, 2, 3, 4};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  for (int i = 0; i < 4; i++) {
    int r = l / 4 + 8 * (i / 2), c = l % 4 * 2 + i % 2;
    float w = i + 1;
    for (int k = 0; k < 16; k++) w += __half2float(a[r * 16 + k]) * __half2float(b[c * 16 + k]);
    assert(w == d[i]);
    y[r * 8 + c] = d[i];
  }
}
ENTRY(c_mma, 1, 32, 0)
K(c_ptx) {
  unsigned r;
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(r) : "r"(0xabcdu));
  assert(r == 0xbc);
  asm("bfi.b32 %0, %1, %2, 8, 8;" : "=r"(r) : "r"(0xffu), "r"(0x12345678u));
  assert(r == 0x1234ff78);
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));
  assert(r == threadIdx.x % 32);
  float f;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(3.f));
  assert(f == 8);
  const float nan = __int_as_float(0x7fffffff);
  asm("max.f32 %0, %1, %2;" : "=f"(f) : "f"(nan), "f"(3.f));
  assert(f == 3);
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(f) : "f"(3.f), "f"(nan));
  assert(f != f);
  asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(0x7fff3c00u), "r"(0x40004000u));
  assert((r & 0xffffu) == 0x3c00u && (r >> 16 & 0x7fffu) > 0x7c00u);
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %1, 0; @p st.global.f32 [%0], %2; }" ::"l"(y + threadIdx.x),
               "r"(threadIdx.x % 2), "f"(5.f));
  float4 v;
  asm volatile("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(x));
  assert(v.w == x[3]);
  unsigned q;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(q) : "r"(5u), "r"(6u), "r"(7u));
  assert(q == (5 ^ 6 ^ 7));
  long long w;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(w) : "r"(-3), "r"(100000), "l"(7ll));
  assert(w == -299993);
}
ENTRY(c_ptx, 1, 64, 0)
K(b_ptx_unsupported) { asm volatile("wgmma.fence.sync.aligned;"); }
ENTRY(b_ptx_unsupported, 1, 32, 0)
K(b_ptx_rounding) {
  float f;
  asm volatile("add.rz.f32 %0, %1, %2;" : "=f"(f) : "f"(1.f), "f"(1e-8f));
  y[threadIdx.x] = f;
}
ENTRY(b_ptx_rounding, 1, 32, 0)
K(c_intrinsics) {
  assert(__popc(0xf0f0u) == 8 && __clz(1) == 31 && __ffs(8) == 4 && __brev(1u) == 0x80000000u &&
         __dp4a(0x01020304, 0x01010101, 5) == 15 && __byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311u);
  assert(__float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_rd(-2.1f) == -3 &&
         __fadd_ru(1.f, 1e-10f) > 1.f && __fadd_rd(1.f, 1e-10f) == 1.f);
  assert(__umulhi(0x80000000u, 4) == 2);
  __half h = __float2half(1.0f / 3);
  assert(__half_as_ushort(h) == 0x3555);
  __nv_bfloat16 b = __float2bfloat16(1.0f / 3);
  assert(__bfloat16_as_ushort(b) == 0x3eab);
  __half2 h2 = __hfma2(__float2half2_rn(2), __float2half2_rn(3), __float2half2_rn(1));
  assert(__low2float(h2) == 7);
  assert(float(__nv_fp8_e4m3(0.3f)) == 0.3125f && float(__nv_fp8_e4m3(1e6f)) == 448.f);
  y[0] = 1;
}
ENTRY(c_intrinsics, 1, 1, 0)
K(c_collectives) {
  int l = threadIdx.x % 32;
  assert(__ballot_sync(~0u, l < 5) == 31u);
  assert(__reduce_add_sync(~0u, l) == 496);
  assert(__match_any_sync(~0u, l / 8) == 0xffu << (l / 8 * 8));
  assert(__shfl_up_sync(~0u, l, 3) == (l < 3 ? l : l - 3));
  assert(__shfl_sync(~0u, l, 5, 8) == l / 8 * 8 + 5);
  assert(__shfl_xor_sync(~0u, (double)l, 4) == (l ^ 4));
  assert(__syncthreads_count(l == 0) == 2);
  assert(!__any_sync(~0u, 0) && __all_sync(~0u, 1));
  auto t = cg::tiled_partition<8>(cg::this_thread_block());
  assert(cg::reduce(t, l, cg::plus<int>()) == (l / 8 * 8) * 8 + 28);
  assert(t.shfl_down(l, 1) == (l % 8 == 7 ? l : l + 1));
  assert(t.ballot(l % 2) == 0xaa);
  y[threadIdx.x] = 1;
}
ENTRY(c_collectives, 1, 64, 0)
K(k_named) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 64) s[t] = x[t];
  if (t >= 32) {
    asm volatile("bar.sync 1, 64;");
    if (t >= 64) y[t] = s[t - 32];
  }
  __syncthreads();
}
ENTRY(k_named, 1, 96, 0)
__device__ int counter_state = 0;
__constant__ float table[4];
K(k_state) {
  if (threadIdx.x == 0) y[0] = counter_state++, y[1] = table[2];
}
torch::Tensor h_k_state(torch::Tensor x) {
  auto y = torch::zeros({4096}, x.options());
  float t[4] = {1, 2, 42, 4};
  cudaMemcpyToSymbol(table, t, 16);
  for (int i = 0; i < 3; i++) k_state<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), 3);
  return y;
}
torch::Tensor on_grid(torch::Tensor x, void* kernel, int blocks, int threads) {
  auto y = torch::zeros({4096}, x.options());
  const float* a = x.data_ptr<float>();
  float* b = y.data_ptr<float>();
  int n = 3;
  void* args[] = {&a, &b, &n};
  cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), args, 0, 0);
  return y;
}
__global__ void k_grid(const float* x, float* y, int n) {
  cg::grid_group g = cg::this_grid();
  int i = g.thread_rank();
  y[i] = x[i];
  g.sync();
  float v = y[(i + 100) % 256];
  g.sync();
  y[i] = v;
}
torch::Tensor h_k_grid(torch::Tensor x) { return on_grid(x, (void*)k_grid, 4, 64); }
__global__ void k_grid_wide(const float* x, float* y, int n) {
  cg::grid_group g = cg::this_grid();
  int i = g.thread_rank();
  float v = x[i % 4096];
  g.sync();
  if (i < 4096) y[i] = v;
}
torch::Tensor h_k_grid_wide(torch::Tensor x) { return on_grid(x, (void*)k_grid_wide, 96, 1024); }
__global__ void k_grid_bad(const float* x, float* y, int n) {
  cg::grid_group g = cg::this_grid();
  int i = g.thread_rank();
  y[i] = x[i];
  g.sync();
  float v = y[(i + 100) % 256];
  y[i] = v;
}
torch::Tensor h_b_grid_bad(torch::Tensor x) { return on_grid(x, (void*)k_grid_bad, 4, 64); }
__global__ void k_flag(const float* x, float* y, int n) {
  volatile float* f = y;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    while (f[100] == 0) {
    }
    y[0] = f[101];
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    f[101] = 5;
    __threadfence();
    f[100] = 1;
  }
}
torch::Tensor h_k_flag(torch::Tensor x) { return on_grid(x, (void*)k_flag, 2, 32); }
// A barrier of the grid by hand, and clusters that wait for each other.
__device__ void until_all_are_there(float* y) {
  int* here = reinterpret_cast<int*>(y + 100);
  if (threadIdx.x != 0) return;
  atomicAdd(here, 1);
  while (atomicAdd(here, 0) < gridDim.x) {
  }
}
__global__ void k_all(const float* x, float* y, int n) { until_all_are_there(y); }
torch::Tensor h_k_all(torch::Tensor x) { return on_grid(x, (void*)k_all, 8, 32); }
__global__ void k_meeting(const float* x, float* y, int n) {
  volatile float* here = y + 100;
  if (threadIdx.x == 0) here[blockIdx.x] = 1;
  while (!__syncthreads_and(here[(blockIdx.x + 1) % gridDim.x] != 0)) {
  }
}
torch::Tensor h_k_meeting(torch::Tensor x) { return on_grid(x, (void*)k_meeting, 4, 64); }
__global__ void __cluster_dims__(2, 1, 1) u_clusters(const float* x, float* y, int n) { until_all_are_there(y); }
torch::Tensor h_u_clusters(torch::Tensor x) { return on_grid(x, (void*)u_clusters, 8, 32); }
K(c_lock) {
  __shared__ int lock;
  __shared__ float sum;
  int t = threadIdx.x;
  if (t == 0) lock = 0, sum = 0;
  __syncthreads();
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence_block();
      sum += x[t];
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  __syncthreads();
  y[t] = sum;
}
ENTRY(c_lock, 1, 64, 0)
K(n_stride) { y[threadIdx.x] = x[threadIdx.x * 32]; }
ENTRY(n_stride, 1, 32, 0)
K(n_vec) { reinterpret_cast<float4*>(y)[threadIdx.x] = reinterpret_cast<const float4*>(x)[threadIdx.x]; }
ENTRY(n_vec, 1, 32, 0)
K(n_bank) {
  __shared__ float s[32][32];
  int t = threadIdx.x;
  for (int i = 0; i < 32; i++) s[i][t] = x[i * 32 + t];
  __syncwarp();
  for (int i = 0; i < 32; i++) y[i * 32 + t] = s[t][i];
}
ENTRY(n_bank, 1, 32, 0)
K(n_pad) {
  __shared__ float s[32][33];
  int t = threadIdx.x;
  for (int i = 0; i < 32; i++) s[i][t] = x[i * 32 + t];
  __syncwarp();
  for (int i = 0; i < 32; i++) y[i * 32 + t] = s[t][i];
}
ENTRY(n_pad, 1, 32, 0)
#define D(NAME) m.def(#NAME, &h_##NAME);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  D(c_cpasync) D(c_cpasync_hint)
  D(b_cpasync_nowait) D(b_cpasync_nobar) D(b_pipe_prior) D(c_cub) D(b_cub_reuse) D(c_wmma) D(c_mma) D(c_ptx)
      D(b_ptx_unsupported) D(b_ptx_rounding) D(c_intrinsics) D(c_collectives) D(k_named) D(k_state) D(k_grid) D(k_grid_wide) D(k_flag)
          D(k_all) D(k_meeting) D(u_clusters) D(b_grid_bad) D(c_lock)
          D(n_stride) D(n_vec) D(n_bank) D(n_pad)
}
