// Lanes of one warp that rely on running in step, which no GPU promises any more. n = 100.

// race
template <bool BUG> __global__ void tree_without_syncwarp(const float* x, float* y, int n) {
  __shared__ float s[32];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncwarp();
  for (int step = 16; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];  // here
    if (!BUG) __syncwarp();
  }
  __syncwarp();
  for (int i = t; i < n; i += 32) y[i] = s[0];
}
PLANT(tree_without_syncwarp, 1, 32, 0)

// race
template <bool BUG> __global__ void last_warp_in_step(const float* x, float* y, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  float* v = s;
  if (t < 32) {
    for (int step = 32; step > 0; step >>= 1) {
      const float added = v[t + step];  // here
      if (!BUG) __syncwarp();
      if (t < step) v[t] = v[t] + added;  // here
      if (!BUG) __syncwarp();
    }
  }
  __syncthreads();
  for (int i = t; i < n; i += 64) y[i] = s[0];
}
PLANT(last_warp_in_step, 1, 64, 0)

// race
template <bool BUG> __global__ void lanes_exchange_through_shared(const float* x, float* y, int n) {
  __shared__ float s[32];
  const int t = threadIdx.x;
  s[t] = x[t];  // here
  if (!BUG) __syncwarp();
  const float got = s[31 - t];  // here
  for (int i = t; i < n; i += 32) y[i] = got;
}
PLANT(lanes_exchange_through_shared, 1, 32, 0)

// race
template <bool BUG> __global__ void leader_speaks_for_its_warp(const float* x, float* y, int n) {
  __shared__ float word[4];
  const int t = threadIdx.x, warp = t / 32;
  if (t % 32 == 0) word[warp] = x[t];  // here
  if (!BUG) __syncwarp();
  if (t < n) y[t] = word[warp];  // here
}
PLANT(leader_speaks_for_its_warp, 1, 128, 0)

// race
template <bool BUG> __global__ void half_warps_told_apart(const float* x, float* y, int n) {
  __shared__ float s[32];
  const int t = threadIdx.x;
  s[t] = x[t];  // here
  __syncwarp(BUG ? (t < 16 ? 0x0000ffffu : 0xffff0000u) : 0xffffffffu);
  const float got = s[t ^ 16];  // here
  for (int i = t; i < n; i += 32) y[i] = got;
}
PLANT(half_warps_told_apart, 1, 32, 0)

// race
template <bool BUG> __global__ void tile_of_a_group(const float* x, float* y, int n) {
  namespace cg = cooperative_groups;
  __shared__ float s[32];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int t = threadIdx.x;
  s[t] = x[t];  // here
  if (!BUG) tile.sync();
  const float got = s[t ^ 7];  // here
  for (int i = t; i < n; i += 32) y[i] = got;
}
PLANT(tile_of_a_group, 1, 32, 0)
