// Launches that no GPU accepts, kernels that never end, arithmetic that has no result, and work that is not done. n = 100.

// launch
template <bool BUG> __global__ void copies(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];
}
PLANT(copies, 1, BUG ? 1025 : 1024, 0)

// launch
template <bool BUG> __global__ void copies_in_a_tall_block(const float* x, float* y, int n) {
  for (int i = threadIdx.x; threadIdx.z == 0 && i < n; i += blockDim.x) y[i] = x[i];
}
PLANT(copies_in_a_tall_block, 1, dim3(8, 1, BUG ? 65 : 64), 0)

// launch
template <bool BUG> __global__ void copies_with_much_shared(const float* x, float* y, int n) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[i], y[i] = s[i];
}
PLANT(copies_with_much_shared, 1, 32, BUG ? 50000 : 48000)

// launch
template <bool BUG> __global__ void copies_by_no_block(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];
}
PLANT(copies_by_no_block, BUG ? n / 128 : (n + 127) / 128, 128, 0)

// hang
template <bool BUG> __global__ void waits_for_a_flag_nobody_sets(const float* x, float* y, int n) {
  __shared__ int ready;
  const int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t == 0 && !BUG) atomicExch(&ready, 1);
  while (atomicAdd(&ready, 0) == 0) {}
  if (t < n) y[t] = x[t];
}
PLANT(waits_for_a_flag_nobody_sets, 1, 128, 0)

// hang
template <bool BUG> __global__ void loop_that_never_advances(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += BUG ? 0 : blockDim.x) y[i] = x[i];
}
PLANT(loop_that_never_advances, 1, 32, 0)

// hang
template <bool BUG> __global__ void lock_never_released(const float* x, float* y, int n) {
  __shared__ int lock, count;
  const int t = threadIdx.x;
  if (t == 0) lock = count = 0;
  __syncthreads();
  if (t % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence_block();
    atomicAdd(&count, 1);
    __threadfence_block();
    if (!BUG) atomicExch(&lock, 0);
  }
  __syncthreads();
  if (t < n) y[t] = x[t] + count;
}
PLANT(lock_never_released, 1, 128, 0)

// hang
template <bool BUG> __global__ void polls_what_never_changes(const float* x, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  const volatile float* watched = x;
  int seen = 0;
  while (i == 0 && (BUG ? watched[0] == x[0] : seen < 4)) seen += 1;
  if (i < n) y[i] = static_cast<float>(seen);
}
PLANT(polls_what_never_changes, (n + 31) / 32, 32, 0)

// division
template <bool BUG> __global__ void divides_by_zero(const float* x, float* y, int n) {
  const int t = threadIdx.x, parts = BUG ? t % 4 : t % 4 + 1;
  if (t < n) y[t] = x[t] + static_cast<float>(n / parts);  // here
}
PLANT(divides_by_zero, 1, 128, 0)

// division
template <bool BUG> __global__ void remainder_of_nothing(const float* x, float* y, int n) {
  const int t = threadIdx.x, heads = BUG ? n / 128 : n / 32;
  if (t < n) y[t] = x[t % heads];  // here
}
PLANT(remainder_of_nothing, 1, 128, 0)

// shift
template <bool BUG> __global__ void shifts_by_the_width(const float* x, float* y, int n) {
  const int t = threadIdx.x, by = BUG ? t % 32 + 1 : t % 32;
  if (t < n) y[t] = static_cast<float>(1u << by);  // here
}
PLANT(shifts_by_the_width, 1, 128, 0)

// shift
template <bool BUG> __global__ void shifts_backwards(const float* x, float* y, int n) {
  const int t = threadIdx.x, by = BUG ? t - 4 : t % 8;
  if (t < n) y[t] = static_cast<float>(64 >> (by < 8 ? by : 7));  // here
}
PLANT(shifts_backwards, 1, 128, 0)

// assert
template <bool BUG> __global__ void asserts_what_is_not_so(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  assert(BUG ? t < n : t < 128);
  if (t < n) y[t] = x[t];
}
PLANT(asserts_what_is_not_so, 1, 128, 0)

// trap
template <bool BUG> __global__ void traps(const float* x, float* y, int n) {
  const int t = threadIdx.x;
  if (BUG && t == 127) __trap();
  if (t < n) y[t] = x[t];
}
PLANT(traps, 1, 128, 0)

// null out-of-bounds fault
template <bool BUG> __global__ void optional_tensor_that_is_not_there(const float* x, float* y, int n) {
  const float* bias = BUG ? nullptr : x;
  const int t = threadIdx.x;
  if (t < n) y[t] = x[t] + bias[t];  // here
}
PLANT(optional_tensor_that_is_not_there, 1, 128, 0)

// no-device-work
template <bool BUG> torch::Tensor launches_nothing(torch::Tensor x) {
  auto y = torch::empty_like(x);
  if (!BUG) copies<false><<<1, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
PLANT_HOST(launches_nothing)

// unwritten
template <bool BUG> torch::Tensor writes_to_another_tensor(torch::Tensor x) {
  auto y = torch::empty_like(x), other = torch::empty_like(x);
  copies<false><<<1, 128>>>(x.data_ptr<float>(), BUG ? other.data_ptr<float>() : y.data_ptr<float>(), x.numel());
  return y;
}
PLANT_HOST(writes_to_another_tensor)

// unwritten
template <bool BUG> torch::Tensor counts_to_zero(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int n = BUG ? 0 : x.numel();
  copies<false><<<1, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
PLANT_HOST(counts_to_zero)
