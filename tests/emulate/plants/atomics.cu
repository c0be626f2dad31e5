// Scopes and orders of atomic operations: what they publish, and for whom. Kernels here get four flags that are zero,
// and their blocks are all there at once, so that they may wait for each other.
#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
static constexpr auto relaxed = cuda::std::memory_order_relaxed, acquire = cuda::std::memory_order_acquire,
                      release = cuda::std::memory_order_release;

#undef PLANT
#define PLANT(NAME, BLOCKS)                                                                           \
  template <bool BUG> static torch::Tensor run_##NAME(torch::Tensor x) {                              \
    auto y = torch::zeros_like(x);                                                                    \
    auto flags = torch::zeros({4}, x.options().dtype(torch::kInt32));                                 \
    const float* from = x.data_ptr<float>();                                                          \
    float* to = y.data_ptr<float>();                                                                  \
    int* words = flags.data_ptr<int>();                                                               \
    void* arguments[] = {&from, &to, &words};                                                         \
    cudaLaunchCooperativeKernel(NAME<BUG>, dim3(BLOCKS), dim3(32), arguments);                        \
    return y;                                                                                         \
  }                                                                                                   \
  static Planting planting_##NAME(#NAME, run_##NAME<true>, run_##NAME<false>);

// race
template <bool BUG> __global__ void released_by_another_object(const float* x, float* y, int* flags) {
  if (threadIdx.x != 0) return;
  Flag early(flags[0]), late(flags[1]);
  if (blockIdx.x == 0) {
    y[0] = x[0];
    early.store(1, release);
    y[1] = x[1];  // here
    late.store(1, BUG ? relaxed : release);
  } else {
    while (late.load(acquire) == 0) {}
    y[2] = y[1];  // here
  }
}
PLANT(released_by_another_object, 2)

// race
template <bool BUG> __global__ void seen_by_a_relaxed_load(const float* x, float* y, int* flags) {
  if (threadIdx.x != 0) return;
  Flag flag(flags[0]);
  if (blockIdx.x == 0) {
    y[1] = x[1];  // here
    flag.store(1, release);
  } else {
    while (flag.load(relaxed) == 0) {}
    if (!BUG) cuda::atomic_thread_fence(acquire, cuda::thread_scope_device);
    y[2] = y[1];  // here
  }
}
PLANT(seen_by_a_relaxed_load, 2)

// race
template <bool BUG> __global__ void counts_in_the_scope_of_a_block(const float* x, float* y, int* flags) {
  cuda::atomic_ref<int, BUG ? cuda::thread_scope_block : cuda::thread_scope_device> count(flags[0]);
  count.fetch_add(1, relaxed);  // here
  if (blockIdx.x == 0) y[threadIdx.x] = x[threadIdx.x];
}
PLANT(counts_in_the_scope_of_a_block, 3)

// race
template <bool BUG> __global__ void half_of_the_blocks_count_alone(const float* x, float* y, int* flags) {
  if (BUG && blockIdx.x == 1) atomicAdd_block(&flags[0], 1);  // here
  else atomicAdd(&flags[0], 1);  // here
  atomicAdd_block(&flags[blockIdx.x + 1], 1);
  if (blockIdx.x == 0) y[threadIdx.x] = x[threadIdx.x];
}
PLANT(half_of_the_blocks_count_alone, 3)

// race
template <bool BUG> __global__ void fence_of_a_block_between_blocks(const float* x, float* y, int* flags) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    y[1] = x[1];  // here
    if (BUG) __threadfence_block();
    else __threadfence();
    atomicExch(&flags[0], 1);
  } else {
    while (atomicAdd(&flags[0], 0) == 0) {}
    y[2] = y[1];  // here
  }
}
PLANT(fence_of_a_block_between_blocks, 2)

// race
template <bool BUG> __global__ void released_to_a_block_alone(const float* x, float* y, int* flags) {
  using Near = cuda::atomic_ref<int, cuda::thread_scope_block>;
  if (threadIdx.x == 0) {
    y[1 + blockIdx.x] = x[1];  // here
    if (BUG) Near(flags[0]).store(1, release);
    else Flag(flags[blockIdx.x]).store(1, release);
  } else if (threadIdx.x == 1 && blockIdx.x == 1) {
    while (Flag(flags[0]).load(acquire) == 0) {}  // here
    y[3] = y[1];  // here
  }
}
PLANT(released_to_a_block_alone, 2)

// race
template <bool BUG> __global__ void atomic_for_its_own_thread(const float* x, float* y, int* flags) {
  cuda::atomic_ref<int, BUG ? cuda::thread_scope_thread : cuda::thread_scope_block> count(flags[0]);
  count.fetch_add(1, relaxed);  // here
  y[threadIdx.x] = x[threadIdx.x];
}
PLANT(atomic_for_its_own_thread, 1)

// race
template <bool BUG> __global__ void standard_atomic_that_orders_nothing(const float* x, float* y, int* flags) {
  auto& flag = *reinterpret_cast<cuda::std::atomic<int>*>(flags);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    y[1] = x[1];  // here
    flag.store(1, BUG ? relaxed : release);
  } else {
    while (flag.load(acquire) == 0) {}
    y[2] = y[1];  // here
  }
}
PLANT(standard_atomic_that_orders_nothing, 2)

// race
template <bool BUG> __global__ void plain_read_beside_atomic_stores(const float* x, float* y, int* flags) {
  Flag flag(flags[0]);
  if (BUG && threadIdx.x == 0) flag.store(1, relaxed);  // here
  if (!BUG && threadIdx.x == 0) flag.load(relaxed);
  y[threadIdx.x] = x[threadIdx.x] + flags[0];  // here
}
PLANT(plain_read_beside_atomic_stores, 1)
