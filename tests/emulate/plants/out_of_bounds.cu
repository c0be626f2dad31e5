// Reads and writes past either end of a tensor. x and y have n = 100 elements.

// out-of-bounds
template <bool BUG> __global__ void tail_without_a_guard(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (BUG || i < n) y[i] = x[i];  // here
}
PLANT(tail_without_a_guard, (n + 63) / 64, 64, 0)

// out-of-bounds
template <bool BUG> __global__ void guard_that_lets_one_through(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (BUG ? i <= n : i < n) {
    const float value = i < n ? x[i] : 0.0f;
    y[i] = value;  // here
  }
}
PLANT(guard_that_lets_one_through, (n + 63) / 64, 64, 0)

// out-of-bounds
template <bool BUG> __global__ void strided_loop_one_too_far(const float* x, float* y, int n) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n + BUG; i += blockDim.x) sum += x[i];  // here
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = sum;
}
PLANT(strided_loop_one_too_far, 1, 32, 0)

// out-of-bounds
template <bool BUG> __global__ void stencil_before_the_start(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float left = BUG || i > 0 ? x[i - 1] : 0.0f;  // here
  y[i] = x[i] - left;
}
PLANT(stencil_before_the_start, (n + 63) / 64, 64, 0)

// out-of-bounds
template <bool BUG> __global__ void vectors_over_the_end(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n / 4) reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];
  if (BUG && i == 0) y[0] += reinterpret_cast<const float4*>(x)[n / 4].w;  // here
}
PLANT(vectors_over_the_end, 1, 64, 0)

// out-of-bounds
template <bool BUG> __global__ void row_length_mistaken(const float* x, float* y, int n) {
  const int columns = BUG ? 11 : 10, row = blockIdx.x;
  if (threadIdx.x < 10) y[row * columns + threadIdx.x] = x[row * 10 + threadIdx.x];  // here
  if (BUG && row == 0) for (int i = threadIdx.x; i < n; i += 32) if (i % 11 == 10) y[i] = 0.0f;
}
PLANT(row_length_mistaken, 10, 32, 0)

// out-of-bounds
template <bool BUG> __device__ __noinline__ float fetch(const float* row, int at) {
  return row[at];  // here
}
template <bool BUG> __global__ void reads_in_a_function(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fetch<BUG>(x, BUG ? i + 1 : i);
}
PLANT(reads_in_a_function, (n + 63) / 64, 64, 0)

// out-of-bounds
template <bool BUG> __global__ void atomics_past_the_end(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = 0.0f;
  __syncthreads();
  if (i < n) atomicAdd(&y[BUG ? i + 1 : i], x[i]);  // here
}
PLANT(atomics_past_the_end, 1, 128, 0)

// out-of-bounds
template <bool BUG> __global__ void index_from_data(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  const int place = BUG ? n + i : n - 1 - i;
  y[i] = __ldg(x + place);  // here
}
PLANT(index_from_data, 1, 128, 0)

// out-of-bounds
template <bool BUG> __global__ void product_beyond_32_bits(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  const int step = BUG ? 50000000 : 1;
  const unsigned place = static_cast<unsigned>(i) * static_cast<unsigned>(step);
  if (i < n) y[i] = x[place];  // here
}
PLANT(product_beyond_32_bits, 1, 128, 0)
