// Reads and writes past either end of shared memory and of arrays in registers. x and y have n = 100 elements.

// out-of-bounds bounds
template <bool BUG> __global__ void one_past_static_shared(const float* x, float* y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[BUG ? t + 1 : t] = t < n ? x[t] : 0.0f;  // here
  __syncthreads();
  if (t < n) y[t] = s[BUG && t == 0 ? 1 : t];
}
PLANT(one_past_static_shared, 1, 128, 0)

// out-of-bounds
template <bool BUG> __global__ void dynamic_shared_too_small(const float* x, float* y, int n) {
  extern __shared__ float s[];
  const int t = threadIdx.x;
  if (t < n) s[t] = x[t];  // here
  __syncthreads();
  if (t < n) y[t] = s[t];
}
PLANT(dynamic_shared_too_small, 1, 128, BUG ? 64 * sizeof(float) : 128 * sizeof(float))

// out-of-bounds bounds
template <bool BUG> __global__ void tile_without_a_margin(const float* x, float* y, int n) {
  __shared__ float tile[10][10];
  const int r = threadIdx.x / 10, c = threadIdx.x % 10;
  tile[r][c] = x[threadIdx.x];
  __syncthreads();
  const int below = BUG ? r + 1 : (r + 1) % 10;
  y[threadIdx.x] = tile[below][c];  // here
}
PLANT(tile_without_a_margin, 1, 100, 0)

// out-of-bounds bounds
template <bool BUG> __global__ void tree_started_too_wide(const float* x, float* y, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int step = BUG ? 64 : 32; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];  // here
    __syncthreads();
  }
  for (int i = t; i < n; i += 64) y[i] = s[0];
}
PLANT(tree_started_too_wide, 1, 64, 0)

// out-of-bounds bounds
template <bool BUG> __global__ void second_array_behind_the_first(const float* x, float* y, int n) {
  __shared__ float a[32];
  __shared__ float b[32];
  const int t = threadIdx.x;
  b[t] = 0.0f;
  float* place = a;
  place[BUG ? t + 32 : t] = x[t];  // here
  __syncthreads();
  for (int i = t; i < n; i += 32) y[i] = b[t] + (BUG ? 0.0f : a[t]);
}
PLANT(second_array_behind_the_first, 1, 32, 0)

// out-of-bounds
template <bool BUG> __global__ void warp_slot_missing(const float* x, float* y, int n) {
  extern __shared__ float partial[];
  const int t = threadIdx.x;
  if (t % 32 == 0) partial[t / 32] = x[t];  // here
  __syncthreads();
  if (t < n) y[t] = partial[0];
}
PLANT(warp_slot_missing, 1, 128, (BUG ? 3 : 4) * sizeof(float))

// bounds out-of-bounds
template <bool BUG> __global__ void local_array_one_too_far(const float* x, float* y, int n) {
  float kept[4];
  const int t = threadIdx.x, most = BUG ? 5 : 4;
#pragma unroll 1
  for (int i = 0; i < most; ++i) kept[i] = x[(t + i) % n];  // here
  if (t < n) y[t] = kept[t % 4];
}
PLANT(local_array_one_too_far, 1, 128, 0)

// bounds out-of-bounds
template <bool BUG> __global__ void local_array_read_before_its_start(const float* x, float* y, int n) {
  float kept[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  const int t = threadIdx.x, back = BUG ? 1 : 0;
  if (t < n) y[t] = x[t] + kept[t % 4 - back];  // here
}
PLANT(local_array_read_before_its_start, 1, 128, 0)

// bounds out-of-bounds
template <bool BUG> __global__ void local_matrix_rows_mistaken(const float* x, float* y, int n) {
  float tile[2][3] = {};
  const int t = threadIdx.x, rows = BUG ? 3 : 2;
#pragma unroll 1
  for (int r = 0; r < rows; ++r) tile[r][t % 3] += x[t % n];  // here
  if (t < n) y[t] = tile[0][t % 3] + tile[1][t % 3];
}
PLANT(local_matrix_rows_mistaken, 1, 128, 0)

// bounds out-of-bounds
template <bool BUG> __global__ void local_table_by_lane(const float* x, float* y, int n) {
  const float table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  const int t = threadIdx.x;
  if (t < n) y[t] = x[t] * table[BUG ? t % 32 : t % 16];  // here
}
PLANT(local_table_by_lane, 1, 128, 0)
