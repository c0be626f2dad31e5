// Copies that are still under way when their data is used. n = 100.

// async-copy uninitialised race
template <bool BUG> __global__ void no_wait_at_all(const float* x, float* y, int n) {
  __shared__ __align__(16) float s[32];
  const int t = threadIdx.x;
  if (t < 8) __pipeline_memcpy_async(&s[4 * t], &x[4 * t], 16);
  __pipeline_commit();
  if (!BUG) __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = t; i < n; i += 32) y[i] = s[t];
}
PLANT(no_wait_at_all, 1, 32, 0)

// async-copy uninitialised race
template <bool BUG> __global__ void waits_for_one_group_too_few(const float* x, float* y, int n) {
  __shared__ __align__(16) float s[2][32];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    if (t < 8) __pipeline_memcpy_async(&s[k][4 * t], &x[32 * k + 4 * t], 16);
    __pipeline_commit();
  }
  __pipeline_wait_prior(BUG ? 1 : 0);
  __syncthreads();
  for (int i = t; i < n; i += 32) y[i] = s[0][t] + s[1][t];
}
PLANT(waits_for_one_group_too_few, 1, 32, 0)

// async-copy uninitialised race
template <bool BUG> __global__ void waits_without_a_barrier(const float* x, float* y, int n) {
  __shared__ __align__(16) float s[128];
  const int t = threadIdx.x;
  if (t < 32 && 4 * t + 3 < n) __pipeline_memcpy_async(&s[4 * t], &x[4 * t], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (!BUG) __syncthreads();
  if (t < n) y[t] = s[t];
}
PLANT(waits_without_a_barrier, 1, 128, 0)

// async-copy uninitialised race
template <bool BUG> __global__ void ptx_without_its_wait(const float* x, float* y, int n) {
  __shared__ __align__(16) float s[32];
  const int t = threadIdx.x;
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(&s[t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n" ::"r"(place), "l"(x + t));
  asm volatile("cp.async.commit_group;\n" ::);
  if (!BUG) asm volatile("cp.async.wait_group 0;\n" ::);
  __syncthreads();
  for (int i = t; i < n; i += 32) y[i] = s[31 - t];
}
PLANT(ptx_without_its_wait, 1, 32, 0)

// misaligned
template <bool BUG> __global__ void sixteen_bytes_from_an_odd_place(const float* x, float* y, int n) {
  __shared__ __align__(16) float s[36];
  const int t = threadIdx.x;
  if (t < 8) __pipeline_memcpy_async(&s[4 * t], &x[4 * t + (BUG ? 1 : 0)], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = t; i < n; i += 32) y[i] = s[t];
}
PLANT(sixteen_bytes_from_an_odd_place, 1, 32, 0)
