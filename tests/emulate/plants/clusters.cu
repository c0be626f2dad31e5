// Clusters of blocks, barriers and pipelines of libcu++: what must be waited for, and is not. n = 100.
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

// race uninitialised
template <bool BUG> __global__ void __cluster_dims__(2, 1, 1) reads_its_neighbour_at_once(const float* x, float* y, int n) {
  __shared__ float mine[64];
  auto cluster = cg::this_cluster();
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  mine[t] = x[i % n];  // here
  if (BUG) __syncthreads(); else cluster.sync();
  const float other = cluster.map_shared_rank(mine, 1 - cluster.block_rank())[t];  // here
  cluster.sync();
  if (i < n) y[i] = other;
}
PLANT(reads_its_neighbour_at_once, 2, 64, 0)

// freed race
template <bool BUG> __global__ void __cluster_dims__(2, 1, 1) leaves_before_it_was_read(const float* x, float* y, int n) {
  __shared__ float mine[64];
  auto cluster = cg::this_cluster();
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  mine[t] = x[i % n];
  cluster.sync();
  if (i < n) y[i] = cluster.map_shared_rank(mine, 1 - cluster.block_rank())[t];  // here
  if (!BUG) cluster.sync();
}
PLANT(leaves_before_it_was_read, 2, 64, 0)

// race
template <bool BUG> __global__ void __cluster_dims__(2, 1, 1) both_write_to_rank_zero(const float* x, float* y, int n) {
  __shared__ float sum;
  auto cluster = cg::this_cluster();
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (t == 0) sum = 0.0f;
  cluster.sync();
  float* target = cluster.map_shared_rank(&sum, 0);
  if (t == 0 && BUG) *target = *target + x[blockIdx.x];  // here
  if (t == 0 && !BUG) atomicAdd(target, x[blockIdx.x]);
  cluster.sync();
  if (i < n) y[i] = *target;
  cluster.sync();
}
PLANT(both_write_to_rank_zero, 2, 64, 0)

// launch
template <bool BUG> __global__ void __cluster_dims__(2, 1, 1) clusters_of_two(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y[i] = x[i];
}
PLANT(clusters_of_two, BUG ? 5 : 4, 32, 0)

// race
template <bool BUG> __global__ void reads_without_waiting_at_the_barrier(const float* x, float* y, int n) {
  __shared__ float s[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  const int t = threadIdx.x;
  if (t == 0) init(&all, 128);
  __syncthreads();
  s[t] = x[t % n];  // here
  auto token = all.arrive();
  if (!BUG) all.wait(std::move(token));
  if (t < n) y[t] = s[127 - t];  // here
}
PLANT(reads_without_waiting_at_the_barrier, 1, 128, 0)

// hang
template <bool BUG> __global__ void barrier_that_expects_too_many(const float* x, float* y, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  const int t = threadIdx.x;
  if (t == 0) init(&all, BUG ? 129 : 128);
  __syncthreads();
  all.arrive_and_wait();
  if (t < n) y[t] = x[t];
}
PLANT(barrier_that_expects_too_many, 1, 128, 0)

// race uninitialised
template <bool BUG> __global__ void barrier_used_before_it_is_there(const float* x, float* y, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  const int t = threadIdx.x;
  if (t == 0) init(&all, 64);
  if (!BUG) __syncthreads();
  all.arrive_and_wait();
  for (int i = t; i < n; i += 64) y[i] = x[i];
}
PLANT(barrier_used_before_it_is_there, 1, 64, 0)

// async-copy
template <bool BUG> __global__ void pipeline_nobody_waits_for(const float* x, float* y, int n) {
  __shared__ float s[128];
  auto pipe = cuda::make_pipeline();
  const int t = threadIdx.x;
  pipe.producer_acquire();
  if (t < n) cuda::memcpy_async(s + t, x + t, sizeof(float), pipe);
  pipe.producer_commit();
  if (!BUG) pipe.consumer_wait();
  if (t < n) y[t] = s[t];  // here
  pipe.consumer_release();
}
PLANT(pipeline_nobody_waits_for, 1, 128, 0)

// async-copy race
template <bool BUG> __global__ void pipeline_of_a_block_one_stage_early(const float* x, float* y, int n) {
  __shared__ float s[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int t = threadIdx.x;
  for (int stage = 0; stage < 2; ++stage) {
    pipe.producer_acquire();
    cuda::memcpy_async(s[stage] + t, x + (stage * 64 + t) % n, sizeof(float), pipe);
    pipe.producer_commit();
  }
  for (int stage = 0; stage < 2; ++stage) {
    pipe.consumer_wait();
    const int from = BUG ? 1 : stage, i = stage * 64 + t;
    if (i < n) y[i] = s[from][63 - t];  // here
    pipe.consumer_release();
  }
}
PLANT(pipeline_of_a_block_one_stage_early, 1, 64, 0)
