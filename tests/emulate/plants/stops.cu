// Kernels that stop themselves, arithmetic without a result or with too large a one, and work that is not done. n = 100.

// assert
template <bool BUG> __global__ void asserts_a_multiple(const float* x, float* y, int n) {
  assert(!BUG || n % 32 == 0);
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x];
}
PLANT(asserts_a_multiple, 1, 128, 0)

template <bool BUG> __device__ float positive(float value) {
  assert(BUG ? value > 0.0f : value == value);
  return value;
}
// assert
template <bool BUG> __global__ void asserts_in_a_function(const float* x, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = positive<BUG>(x[threadIdx.x]);
}
PLANT(asserts_in_a_function, 1, 128, 0)

// assert
template <bool BUG> __global__ void asserts_after_a_barrier(const float* x, float* y, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x < n) atomicAdd(&count, 1);
  __syncthreads();
  assert(count == (BUG ? 128 : n));
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x];
}
PLANT(asserts_after_a_barrier, 1, 128, 0)

// trap
template <bool BUG> __global__ void traps_on_what_cannot_be(const float* x, float* y, int n) {
  switch (threadIdx.x % (BUG ? 4 : 3)) {
    case 0: case 1: case 2: break;
    default: __trap();
  }
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x];
}
PLANT(traps_on_what_cannot_be, 1, 128, 0)

// trap
template <bool BUG> __global__ void traps_by_assembly(const float* x, float* y, int n) {
  if (BUG && blockIdx.x == gridDim.x - 1) asm volatile("trap;");
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y[i] = x[i];
}
PLANT(traps_by_assembly, (n + 31) / 32, 32, 0)

template <bool BUG> __device__ int bucket_of(float value) {
  if (value < (BUG ? 0.0f : -1e30f)) __trap();
  return value > 1.0f;
}
// trap
template <bool BUG> __global__ void traps_in_a_function(const float* x, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = static_cast<float>(bucket_of<BUG>(x[threadIdx.x]));
}
PLANT(traps_in_a_function, 1, 128, 0)

// division
template <bool BUG> __global__ void groups_of_no_size(const float* x, float* y, int n) {
  const int t = threadIdx.x, groups = 128, size = BUG ? n / groups : (n + groups - 1) / groups;
  if (t < n) y[t] = x[t / size % n];  // here
}
PLANT(groups_of_no_size, 1, 128, 0)

// division
template <bool BUG> __global__ void mean_of_nothing(const float* x, float* y, int n) {
  int count = 0, sum = 0;
  for (int i = 0; i < n; ++i)
    if (x[i] > (BUG ? 1e9f : -1e9f)) count += 1, sum += i;
  if (threadIdx.x < n) y[threadIdx.x] = static_cast<float>(sum / count);  // here
}
PLANT(mean_of_nothing, 1, 128, 0)

// shift
template <bool BUG> __global__ void mask_of_a_whole_warp(const float* x, float* y, int n) {
  const int lanes = BUG ? 32 : 31;
  const unsigned mask = (1u << (threadIdx.x % 2 ? lanes : 16)) - 1u;  // here
  if (threadIdx.x < n) y[threadIdx.x] = static_cast<float>(mask & 255u);
}
PLANT(mask_of_a_whole_warp, 1, 128, 0)

// shift
template <bool BUG> __global__ void word_of_eight_bytes_in_an_int(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  unsigned packed = 0;
  for (int i = 0; i < (BUG ? 8 : 4); ++i) packed |= 3u << (8 * i);  // here
  if (t < n) y[t] = static_cast<float>(packed & 7u);
}
PLANT(word_of_eight_bytes_in_an_int, 1, 128, 0)

// overflow
template <bool BUG> __global__ void rows_times_columns(const float* x, float* y, int n) {
  const int rows = BUG ? 65536 : 1024, columns = 65536 / 2;
  const int last = (rows + n) * columns;  // here
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] + static_cast<float>(last & 1);
}
PLANT(rows_times_columns, 1, 128, 0)

// overflow
template <bool BUG> __global__ void offset_of_a_far_block(const float* x, float* y, int n) {
  const int far = (BUG ? 1 << 20 : 1 << 10) + static_cast<int>(blockIdx.x);
  const int start = far * 4096;  // here
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y[i] = x[i] + static_cast<float>(start & 1);
}
PLANT(offset_of_a_far_block, (n + 31) / 32, 32, 0)

// overflow
template <bool BUG> __global__ void sum_of_large_counts(const float* x, float* y, int n) {
  int total = BUG ? 2147483600 : 0;
  for (int i = 0; i < n; ++i) total += x[i] == x[i];  // here
  if (threadIdx.x < n) y[threadIdx.x] = static_cast<float>(total & 127);
}
PLANT(sum_of_large_counts, 1, 128, 0)

// overflow
template <bool BUG> __global__ void signed_hash(const float* x, float* y, int n) {
  int key = static_cast<int>(threadIdx.x) + 1;
  const int step = static_cast<int>(x[0] == x[0]) * 73856093;
  if (BUG) key *= step;  // here
  if (threadIdx.x < n) y[threadIdx.x] = static_cast<float>(key & 15);
}
PLANT(signed_hash, 1, 128, 0)

static __global__ void copied(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];
}

// no-device-work
template <bool BUG> torch::Tensor gives_back_its_argument(torch::Tensor x) {
  if (BUG) return x;
  auto y = torch::empty_like(x);
  copied<<<1, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
PLANT_HOST(gives_back_its_argument)

// no-device-work
template <bool BUG> torch::Tensor gives_up_on_odd_sizes(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int n = x.numel();
  if (BUG && n % 8 != 0) return y;
  copied<<<1, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
PLANT_HOST(gives_up_on_odd_sizes)

// no-device-work
template <bool BUG> torch::Tensor another_view_of_its_argument(torch::Tensor x) {
  if (BUG) return x.view({x.numel()});
  auto y = torch::empty_like(x);
  copied<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
PLANT_HOST(another_view_of_its_argument)

// inactive-lane
template <bool BUG> __global__ void asks_a_lane_outside_of_the_mask(const float* x, float* y, int n) {
  const int t = threadIdx.x, lane = t % 32;
  float value = x[t % n];
  if (lane < 16) value += __shfl_sync(0x0000ffffu, value, BUG ? lane + 16 : 15 - lane);  // here
  if (t < n) y[t] = value;
}
PLANT(asks_a_lane_outside_of_the_mask, 1, 128, 0)

// inactive-lane
template <bool BUG> __global__ void short_warp_reduced_as_a_whole(const float* x, float* y, int n) {
  const unsigned present = __ballot_sync(0xffffffffu, threadIdx.x < 100);
  float value = x[threadIdx.x % n];
  if (threadIdx.x < 100) value += __shfl_xor_sync(present, value, BUG ? 16 : 2);  // here
  if (threadIdx.x < n) y[threadIdx.x] = value;
}
PLANT(short_warp_reduced_as_a_whole, 1, 128, 0)
