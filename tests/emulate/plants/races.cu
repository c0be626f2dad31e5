// Threads of one block that do not wait for each other where they must. x and y have n = 100 elements.

// race
template <bool BUG> __global__ void no_barrier_after_the_store(const float* x, float* y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = t < n ? x[t] : 0.0f;  // here
  if (!BUG) __syncthreads();
  if (t < n) y[t] = s[127 - t];  // here
}
PLANT(no_barrier_after_the_store, 1, 128, 0)

// race
template <bool BUG> __global__ void no_barrier_in_the_tree(const float* x, float* y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = t < n ? x[t] : 0.0f;
  __syncthreads();
  for (int step = 64; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];  // here
    if (!BUG) __syncthreads();
  }
  __syncthreads();
  if (t < n) y[t] = s[0];
}
PLANT(no_barrier_in_the_tree, 1, 128, 0)

// race
template <bool BUG> __global__ void buffer_used_again_too_soon(const float* x, float* y, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < n; start += 64) {
    s[t] = start + t < n ? x[start + t] : 0.0f;  // here
    __syncthreads();
    sum += s[(t + 33) % 64];  // here
    if (!BUG) __syncthreads();
  }
  for (int i = t; i < n; i += 64) y[i] = sum;
}
PLANT(buffer_used_again_too_soon, 1, 64, 0)

// race
template <bool BUG> __global__ void result_of_one_thread_too_early(const float* x, float* y, int n) {
  __shared__ float mean;
  const int t = threadIdx.x;
  if (t == 0) mean = x[0];  // here
  if (!BUG) __syncthreads();
  if (t < n) y[t] = x[t] - mean;  // here
}
PLANT(result_of_one_thread_too_early, 1, 128, 0)

// race
template <bool BUG> __global__ void total_overwritten_while_read(const float* x, float* y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = t < n ? x[t] : 0.0f;
  __syncthreads();
  for (int step = 64; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  const float total = s[0];  // here
  if (!BUG) __syncthreads();
  s[t] = total * t;  // here
  __syncthreads();
  if (t < n) y[t] = s[t];
}
PLANT(total_overwritten_while_read, 1, 128, 0)

// race
template <bool BUG> __global__ void everyone_writes_one_place(const float* x, float* y, int n) {
  __shared__ float last;
  const int t = threadIdx.x;
  if (BUG ? t < n : t == n - 1) last = x[t];  // here
  __syncthreads();
  if (t < n) y[t] = last;
}
PLANT(everyone_writes_one_place, 1, 128, 0)

// race
template <bool BUG> __global__ void double_buffer_with_one_buffer(const float* x, float* y, int n) {
  __shared__ float s[2][32];
  const int t = threadIdx.x;
  const int other = BUG ? 0 : 1;
  if (t < 32) s[0][t] = x[t];
  __syncthreads();
  float sum = 0.0f;
  for (int k = 1; k < 4; ++k) {
    const int now = k % 2 ? 0 : other, next = k % 2 ? other : 0;
    if (t < 32) s[next][t] = x[(32 * k + t) % n];  // here
    sum += s[now][(t + 7) % 32];  // here
    __syncthreads();
  }
  if (t < n) y[t] = sum;
}
PLANT(double_buffer_with_one_buffer, 1, 128, 0)

// race
template <bool BUG> __global__ void counts_without_atomics(const float* x, float* y, int n) {
  __shared__ int count;
  const int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  if (t < n) {
    if (BUG) count += 1;  // here
    else atomicAdd(&count, 1);
  }
  __syncthreads();
  if (t < n) y[t] = static_cast<float>(count);
}
PLANT(counts_without_atomics, 1, 128, 0)

// race
template <bool BUG> __global__ void transposes_before_all_is_there(const float* x, float* y, int n) {
  __shared__ float tile[10][11];
  const int r = threadIdx.x / 10, c = threadIdx.x % 10;
  tile[r][c] = x[threadIdx.x];  // here
  if (!BUG) __syncthreads();
  y[threadIdx.x] = tile[c][r];  // here
}
PLANT(transposes_before_all_is_there, 1, 100, 0)

// race
template <bool BUG> __device__ float block_sum(float value, float* s) {
  const int t = threadIdx.x;
  s[t] = value;  // here
  __syncthreads();
  for (int step = 32; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  const float total = s[0];  // here
  if (!BUG) __syncthreads();
  return total;
}
template <bool BUG> __global__ void function_called_twice(const float* x, float* y, int n) {
  __shared__ float s[64];
  const float mean = block_sum<BUG>(x[threadIdx.x], s) / 64;
  const float variance = block_sum<BUG>(x[threadIdx.x] - mean, s);
  for (int i = threadIdx.x; i < n; i += 64) y[i] = mean + variance;
}
PLANT(function_called_twice, 1, 64, 0)

// race
template <bool BUG> __global__ void neighbours_in_global_memory(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  if (t < n) y[t] = x[t];  // here
  __syncthreads();
  const float next = t < n ? y[(t + 1) % n] : 0.0f;  // here
  if (!BUG) __syncthreads();
  if (t < n) y[t] = next;  // here
}
PLANT(neighbours_in_global_memory, 1, 128, 0)

// race
template <bool BUG> __global__ void scan_in_place(const float* x, float* y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = t < n ? x[t] : 0.0f;
  __syncthreads();
  for (int step = 1; step < 128; step *= 2) {
    const float added = t >= step ? s[t - step] : 0.0f;  // here
    if (!BUG) __syncthreads();
    s[t] += added;  // here
    __syncthreads();
  }
  if (t < n) y[t] = s[t];
}
PLANT(scan_in_place, 1, 128, 0)
