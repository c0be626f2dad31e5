// Barriers and warp operations that some of the threads they name never reach. n = 100.

// barrier-divergence
template <bool BUG> __global__ void barrier_in_a_branch(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  if (t < 64) {
    if (BUG) __syncthreads();  // here
  }
  if (t < n) y[t] = x[t];
}
PLANT(barrier_in_a_branch, 1, 128, 0)

// barrier-divergence
template <bool BUG> __global__ void return_before_the_barrier(const float* x, float* y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  if (BUG && t >= n) return;
  s[t] = t < n ? x[t] : 0.0f;
  __syncthreads();  // here
  if (t < n) y[t] = s[n - 1 - t];
}
PLANT(return_before_the_barrier, 1, 128, 0)

// barrier-divergence
template <bool BUG> __global__ void barrier_in_a_loop_of_uneven_length(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  for (int i = t; i < (BUG ? n : 128); i += 64) {
    if (i < n) y[i] = x[i];
    __syncthreads();  // here
  }
}
PLANT(barrier_in_a_loop_of_uneven_length, 1, 64, 0)

// barrier-divergence
template <bool BUG> __global__ void two_barriers_in_two_branches(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  if (BUG) {
    if (t < 32) {
      __syncthreads();  // here
    } else {
      __syncthreads();  // here
    }
  } else {
    __syncthreads();
  }
  if (t < n) y[t] = x[t];
}
PLANT(two_barriers_in_two_branches, 1, 128, 0)

// barrier-divergence
template <bool BUG> __global__ void barrier_for_busy_warps_only(const float* x, float* y, int n) {
  const int t = threadIdx.x, warp = t / 32;
  if (!BUG || warp * 32 + 32 <= n) __syncthreads();  // here
  if (t < n) y[t] = x[t];
}
PLANT(barrier_for_busy_warps_only, 1, 128, 0)

// barrier-divergence
template <bool BUG> __global__ void group_sync_in_a_branch(const float* x, float* y, int n) {
  auto block = cooperative_groups::this_thread_block();
  const int t = threadIdx.x;
  if (!BUG || t % 2 == 0) block.sync();
  if (t < n) y[t] = x[t];
}
PLANT(group_sync_in_a_branch, 1, 128, 0)

// warp-divergence inactive-lane mask
template <bool BUG> __global__ void full_mask_in_half_a_warp(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  float value = t < n ? x[t] : 0.0f;
  if (t % 32 < 16) value += __shfl_xor_sync(BUG ? 0xffffffffu : 0x0000ffffu, value, 1);  // here
  value += __any_sync(0xffffffffu, value > 0.0f);  // here
  if (t < n) y[t] = value;
}
PLANT(full_mask_in_half_a_warp, 1, 128, 0)

// warp-divergence inactive-lane mask
template <bool BUG> __global__ void shuffle_after_some_left(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  if (BUG && t >= n) return;
  float value = t < n ? x[t] : 0.0f;
  value += __shfl_down_sync(0xffffffffu, value, 16);  // here
  if (t < n) y[t] = value;
}
PLANT(shuffle_after_some_left, 1, 128, 0)

// warp-divergence inactive-lane mask
template <bool BUG> __global__ void vote_of_those_who_care(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  bool any = false;
  if (!BUG || t % 4 == 0) any = __any_sync(0xffffffffu, t < n && x[t] > 0.0f);  // here
  __syncwarp();  // here
  if (t < n) y[t] = any ? 1.0f : 0.0f;
}
PLANT(vote_of_those_who_care, 1, 128, 0)

// warp-divergence inactive-lane mask
template <bool BUG> __global__ void uneven_loop_around_a_shuffle(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = t; i < (BUG ? n : 128); i += 32) {
    float value = i < n ? x[i] : 0.0f;
    for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);  // here
    sum += value;
  }
  for (int i = t; i < n; i += 32) y[i] = sum;
}
PLANT(uneven_loop_around_a_shuffle, 1, 32, 0)

// warp-divergence inactive-lane mask
template <bool BUG> __global__ void syncwarp_in_a_branch(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  if (t % 32 < 8) {
    if (BUG) __syncwarp();  // here
    else __syncwarp(0x000000ffu);
  }
  const unsigned all = __ballot_sync(0xffffffffu, t < n);  // here
  if (t < n) y[t] = x[t] + all;
}
PLANT(syncwarp_in_a_branch, 1, 128, 0)

// inactive-lane mask
template <bool BUG> __global__ void asks_a_lane_outside_of_its_mask(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  float value = t < n ? x[t] : 0.0f;
  if (t % 32 < 16) value = __shfl_sync(0x0000ffffu, value, BUG ? 20 : 4);  // here
  if (t < n) y[t] = value;
}
PLANT(asks_a_lane_outside_of_its_mask, 1, 128, 0)

// inactive-lane mask warp-divergence
template <bool BUG> __global__ void short_last_warp(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  float value = x[t];
  const unsigned mask = t / 32 == 3 ? (BUG ? 0xffffffffu : 0x0000000fu) : 0xffffffffu;
  value += __shfl_xor_sync(mask, value, BUG ? 16 : 1);  // here
  y[t] = value;
}
PLANT(short_last_warp, 1, 100, 0)

// mask
template <bool BUG> __global__ void caller_not_in_its_own_mask(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  float value = t < n ? x[t] : 0.0f;
  value += __shfl_xor_sync(BUG ? 0x7fffffffu : 0xffffffffu, value, 1);  // here
  if (t < n) y[t] = value;
}
PLANT(caller_not_in_its_own_mask, 1, 128, 0)

// mask
template <bool BUG> __global__ void empty_mask(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  const unsigned votes = __ballot_sync(BUG ? 0u : 0xffffffffu, t < n);  // here
  if (t < n) y[t] = static_cast<float>(__popc(votes));
}
PLANT(empty_mask, 1, 128, 0)

// mask
template <bool BUG> __global__ void mask_of_another_half(const float* x, float* y, int n) {
  const int t = threadIdx.x, lane = t % 32;
  float value = t < n ? x[t] : 0.0f;
  if (lane >= 16) value += __shfl_xor_sync(BUG ? 0x0000ffffu : 0xffff0000u, value, 1);  // here
  if (t < n) y[t] = value;
}
PLANT(mask_of_another_half, 1, 128, 0)

// mask
template <bool BUG> __global__ void syncwarp_without_oneself(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  __syncwarp(BUG ? ~(1u << (t % 32)) : 0xffffffffu);  // here
  if (t < n) y[t] = x[t];
}
PLANT(syncwarp_without_oneself, 1, 128, 0)
