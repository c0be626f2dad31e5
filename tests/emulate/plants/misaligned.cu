// Vectors at addresses that are no multiple of their size. x and y have n = 100 elements.

// misaligned
template <bool BUG> __global__ void float4_from_an_odd_row(const float* x, float* y, int n) {
  const int columns = BUG ? 10 : 12, row = blockIdx.x;
  const float4* in = reinterpret_cast<const float4*>(x + row * columns);
  float4* out = reinterpret_cast<float4*>(y + row * columns);
  if (threadIdx.x < columns / 4) out[threadIdx.x] = in[threadIdx.x];  // here
  __syncthreads();
  for (int i = threadIdx.x; row == 0 && i < n; i += 32)
    if (i / columns >= 8 || i % columns >= columns / 4 * 4) y[i] = x[i];
}
PLANT(float4_from_an_odd_row, 8, 32, 0)

// misaligned
template <bool BUG> __global__ void float2_shifted_by_one(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  const float2* pairs = reinterpret_cast<const float2*>(x + (BUG ? 1 : 0));
  const float2 pair = pairs[i < n / 2 - 1 ? i : 0];  // here
  if (i < n / 2 - 1) y[2 * i] = pair.x + pair.y;
  if (i < n / 2) y[2 * i + 1] = x[2 * i + 1];
  if (i == n / 2 - 1) y[2 * i] = x[2 * i];
}
PLANT(float2_shifted_by_one, 1, 64, 0)

// misaligned
template <bool BUG> __global__ void vector_in_shared(const float* x, float* y, int n) {
  __shared__ __align__(16) float s[132];
  const int t = threadIdx.x;
  for (int i = t; i < 132; i += 32) s[i] = i < n ? x[i] : 0.0f;
  __syncthreads();
  const float4 v = *reinterpret_cast<const float4*>(s + (BUG ? t + 1 : 4 * (t % 8)));  // here
  for (int i = t; i < n; i += 32) y[i] = v.x + v.w;
}
PLANT(vector_in_shared, 1, 32, 0)

// misaligned
template <bool BUG> __global__ void double_among_floats(const float* x, float* y, int n) {
  extern __shared__ char raw[];
  float* head = reinterpret_cast<float*>(raw);
  double* rest = reinterpret_cast<double*>(raw + (BUG ? 4 : 8));
  const int t = threadIdx.x;
  if (t == 0) head[0] = x[0];
  rest[t] = x[t];  // here
  __syncthreads();
  for (int i = t; i < n; i += 32) y[i] = head[0] + static_cast<float>(rest[t]);
}
PLANT(double_among_floats, 1, 32, 8 + 33 * sizeof(double))

// misaligned
template <bool BUG> __global__ void half2_from_odd_elements(const float* x, float* y, int n) {
  const __half* halves = reinterpret_cast<const __half*>(x) + (BUG ? 1 : 0);
  const int i = threadIdx.x;
  if (i < n - 1) {
    const __half2 pair = reinterpret_cast<const __half2*>(halves)[i];  // here
    y[i] = __low2float(pair);
  }
  if (i == n - 1) y[i] = 0.0f;
}
PLANT(half2_from_odd_elements, 1, 128, 0)

// misaligned
template <bool BUG> __global__ void int_from_a_byte(const float* x, float* y, int n) {
  const char* bytes = reinterpret_cast<const char*>(x) + (BUG ? 2 : 0);
  const int i = threadIdx.x;
  if (i < n - 1) y[i] = static_cast<float>(reinterpret_cast<const int*>(bytes)[i] & 7);  // here
  if (i == n - 1) y[i] = 0.0f;
}
PLANT(int_from_a_byte, 1, 128, 0)
