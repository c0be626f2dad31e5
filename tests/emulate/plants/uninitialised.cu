// Memory that is read before anything has been put there, and results that nothing was ever put into.

// uninitialised
template <bool BUG> __global__ void only_half_of_shared_stored(const float* x, float* y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  if (!BUG || t < 64) s[t] = t < n ? x[t] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < 128; ++i) sum += s[i];  // here
  if (t < n) y[t] = sum;
}
PLANT(only_half_of_shared_stored, 1, 128, 0)

// uninitialised
template <bool BUG> __global__ void tail_of_the_last_tile(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) tile[threadIdx.x] = x[i];
  else if (!BUG) tile[threadIdx.x] = 0.0f;
  __syncthreads();
  if (i < n) y[i] = tile[63 - threadIdx.x];  // here
}
PLANT(tail_of_the_last_tile, (n + 63) / 64, 64, 0)

// uninitialised
template <bool BUG> __global__ void accumulates_into_nothing(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (!BUG && i < n) y[i] = 0.0f;
  if (i < n) y[i] += x[i];  // here
}
PLANT(accumulates_into_nothing, 1, 128, 0)

// uninitialised
template <bool BUG> __global__ void atomics_into_nothing(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (!BUG && i < n) y[i] = 0.0f;
  __syncthreads();
  if (i < n) atomicAdd(&y[i % 10], x[i]);  // here
  if (BUG && i >= 10 && i < n) y[i] = 0.0f;
}
PLANT(atomics_into_nothing, 1, 128, 0)

// uninitialised
template <bool BUG> __global__ void warp_partials_of_absent_warps(const float* x, float* y, int n) {
  __shared__ float partial[8];
  const int t = threadIdx.x, warps = BUG ? 8 : 4;
  if (t % 32 == 0) partial[t / 32] = x[t];
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < warps; ++w) total += partial[w];  // here
  if (t < n) y[t] = total;
}
PLANT(warp_partials_of_absent_warps, 1, 128, 0)

// uninitialised
template <bool BUG> __global__ void histogram_not_cleared(const float* x, float* y, int n) {
  __shared__ unsigned bins[16];
  const int t = threadIdx.x;
  if (t < (BUG ? 15 : 16)) bins[t] = 0;
  __syncthreads();
  if (t < n) atomicAdd(&bins[t % 16], 1u);
  __syncthreads();
  if (t < n) y[t] = static_cast<float>(bins[t % 16]);
}
PLANT(histogram_not_cleared, 1, 128, 0)

// uninitialised
template <bool BUG> torch::Tensor scratch_never_filled(torch::Tensor x);
__global__ void add_scratch(const float* x, const float* scratch, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] + scratch[threadIdx.x];  // here
}
template <bool BUG> torch::Tensor scratch_never_filled(torch::Tensor x) {
  auto y = torch::empty_like(x), scratch = BUG ? torch::empty_like(x) : torch::zeros_like(x);
  add_scratch<<<1, 128>>>(x.data_ptr<float>(), scratch.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
PLANT_HOST(scratch_never_filled)

// unwritten
template <bool BUG> __global__ void last_element_left_out(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - BUG) y[i] = x[i];
}
PLANT(last_element_left_out, (n + 63) / 64, 64, 0)

// unwritten
template <bool BUG> __global__ void grid_rounded_down(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
PLANT(grid_rounded_down, BUG ? n / 64 : (n + 63) / 64, 64, 0)

// unwritten
template <bool BUG> __global__ void vectors_without_a_tail(const float* x, float* y, int n) {
  const int i = threadIdx.x, wide = n / 8;
  for (int k = 0; k < 8; ++k)
    if (i < wide) y[8 * i + k] = x[8 * i + k];
  if (!BUG && 8 * wide + i < n) y[8 * wide + i] = x[8 * wide + i];
}
PLANT(vectors_without_a_tail, 1, 32, 0)

// unwritten
template <bool BUG> __global__ void stride_twice_too_long(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += (BUG ? 2 : 1) * blockDim.x) y[i] = x[i];
}
PLANT(stride_twice_too_long, 1, 32, 0)

// unwritten
template <bool BUG> __global__ void only_positive_ones(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  if (x[i] > 0.0f) y[i] = x[i];
  else if (!BUG) y[i] = 0.0f;
}
PLANT(only_positive_ones, 1, 128, 0)
