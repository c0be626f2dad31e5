// Blocks that use one place of global memory with nothing to order them. n = 100.

// race
template <bool BUG> __global__ void every_block_adds_to_one_place(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y[i] = x[i];
  if (BUG && threadIdx.x == 0) y[0] += x[i];  // here
}
PLANT(every_block_adds_to_one_place, (n + 31) / 32, 32, 0)

// race
template <bool BUG> __global__ void neighbour_of_another_block(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i];  // here
  if (BUG && i > 0 && threadIdx.x == 0) y[i] = y[i - 1] + 1.0f;  // here
}
PLANT(neighbour_of_another_block, (n + 31) / 32, 32, 0)

// race
template <bool BUG> __global__ void overlapping_tiles(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n && (BUG || threadIdx.x < 32)) y[i] = x[i] + (BUG ? blockIdx.x : 0);  // here
}
PLANT(overlapping_tiles, (n + 31) / 32, BUG ? 40 : 32, 0)

// race
template <bool BUG> __global__ void flag_without_atomics(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n && i > 0) y[i] = x[i];
  if (BUG && threadIdx.x == 0) y[0] = static_cast<float>(blockIdx.x);  // here
  if (!BUG && i == 0) y[0] = 0.0f;
}
PLANT(flag_without_atomics, (n + 31) / 32, 32, 0)

// race
template <bool BUG> __global__ void maximum_by_hand(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y[i] = x[i];
  if (BUG && i < n && x[i] > y[n - 1]) y[n - 1] = x[i];  // here
}
PLANT(maximum_by_hand, (n + 31) / 32, 32, 0)

// race
template <bool BUG> __global__ void reads_what_others_update(const float* x, float* y, int n) {
  __shared__ int total;
  const int t = threadIdx.x;
  if (t == 0) total = 0;
  __syncthreads();
  if (t < n) atomicAdd(&total, 1);  // here
  if (!BUG) __syncthreads();
  const int seen = total;  // here
  if (t < n) y[t] = static_cast<float>(seen);
}
PLANT(reads_what_others_update, 1, 128, 0)

// race
template <bool BUG> __global__ void store_among_atomics(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n && i > 0) y[i] = x[i];
  if (i == 0) y[0] = 0.0f;  // here
  if (BUG && threadIdx.x == 1) atomicAdd(&y[0], 1.0f);  // here
}
PLANT(store_among_atomics, (n + 31) / 32, 32, 0)

// race
template <bool BUG> __global__ void clears_while_others_count(const float* x, float* y, int n) {
  __shared__ int bins[8];
  const int t = threadIdx.x;
  if (t < 8) bins[t] = 0;  // here
  if (!BUG) __syncthreads();
  atomicAdd(&bins[t % 8], 1);  // here
  __syncthreads();
  if (t < n) y[t] = static_cast<float>(bins[t % 8]);
}
PLANT(clears_while_others_count, 1, 128, 0)

// race
template <bool BUG> __global__ void last_block_by_a_plain_counter(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n && i > 0) y[i] = x[i];
  if (!BUG && i == 0) y[0] = 0.0f;
  if (BUG && threadIdx.x == 0) {
    if (blockIdx.x == 0) y[0] = 1.0f;  // here
    else y[0] = y[0] + 1.0f;  // here
  }
}
PLANT(last_block_by_a_plain_counter, (n + 31) / 32, 32, 0)
