// Blocks that wait for blocks which need not have begun, and what may be waited for. Kernels here run in four blocks of
// a warp, and get eight words that are zero.
#include <cuda/atomic>

namespace cg = cooperative_groups;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
static constexpr auto acquire = cuda::std::memory_order_acquire, release = cuda::std::memory_order_release;
enum class Way { ORDINARY, TOGETHER, CLUSTERS };

static torch::Tensor launched(void (*kernel)(const float*, float*, int*), Way way, torch::Tensor x) {
  auto y = torch::zeros_like(x);
  auto words = torch::zeros({8}, x.options().dtype(torch::kInt32));
  cudaLaunchAttribute attribute = {};
  attribute.id = way == Way::CLUSTERS ? cudaLaunchAttributeClusterDimension : cudaLaunchAttributeCooperative;
  if (way == Way::CLUSTERS) attribute.val.clusterDim = {2, 1, 1};
  else attribute.val.cooperative = way == Way::TOGETHER;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, (const float*)x.data_ptr<float>(), y.data_ptr<float>(), words.data_ptr<int>());
  return y;
}

#undef PLANT
#define PLANT(NAME)                                                                     \
  template <bool BUG> static torch::Tensor run_##NAME(torch::Tensor x) {                \
    return launched(NAME<BUG>, Way::ORDINARY, x);                                       \
  }                                                                                     \
  static Planting planting_##NAME(#NAME, run_##NAME<true>, run_##NAME<false>);

// The first to ask is given 0, whichever block that is.
static __device__ int ticket(int* words) {
  __shared__ int drawn;
  if (threadIdx.x == 0) drawn = atomicAdd(&words[7], 1);
  __syncthreads();
  return drawn;
}

// waits-for-unbegun
template <bool BUG> __global__ void sums_in_order_of_block_numbers(const float* x, float* y, int* words) {
  const int piece = BUG ? blockIdx.x : ticket(words);
  volatile int* done = words;
  if (threadIdx.x != 0) return;
  if (piece > 0)
    while (done[piece - 1] == 0) {}  // here
  y[piece] = x[piece] + (piece > 0 ? y[piece - 1] : 0.0f);
  __threadfence();
  done[piece] = 1;
}
PLANT(sums_in_order_of_block_numbers)

// waits-for-unbegun
template <bool BUG> __global__ void sums_from_the_last_block_on(const float* x, float* y, int* words) {
  const int piece = BUG ? gridDim.x - 1 - blockIdx.x : ticket(words);
  if (threadIdx.x != 0) return;
  for (unsigned pause = 8; piece > 0 && Word(words[piece - 1]).load(acquire) == 0; pause = min(2 * pause, 256u))
    __nanosleep(pause);  // here
  y[piece] = x[piece] + (piece > 0 ? y[piece - 1] : 0.0f);
  Word(words[piece]).store(1, release);
}
PLANT(sums_from_the_last_block_on)

// waits-for-unbegun
template <bool BUG> __global__ void sums_by_assembly(const float* x, float* y, int* words) {
  const int piece = BUG ? blockIdx.x : ticket(words);
  if (threadIdx.x != 0) return;
  for (int done = piece == 0; !done;)
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(done) : "l"(words + piece - 1) : "memory");  // here
  y[piece] = x[piece] + (piece > 0 ? y[piece - 1] : 0.0f);
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(words + piece), "r"(1) : "memory");
}
PLANT(sums_by_assembly)

// Every lane waits for another piece.
// waits-for-unbegun
template <bool BUG> __global__ void adds_up_all_pieces_before_its_own(const float* x, float* y, int* words) {
  const int piece = BUG ? blockIdx.x : ticket(words), lane = threadIdx.x;
  if (lane == 0) atomicExch(&words[piece], 1 + piece);
  int before = 0;
  if (lane < piece)
    while (before == 0) before = *static_cast<volatile int*>(words + lane);  // here
  before = __reduce_add_sync(0xffffffffu, before);
  if (lane == 0) y[piece] = static_cast<float>(before);
}
PLANT(adds_up_all_pieces_before_its_own)

// waits-for-unbegun
template <bool BUG> __global__ void whole_warps_wait(const float* x, float* y, int* words) {
  const int piece = BUG ? blockIdx.x : ticket(words), lane = threadIdx.x;
  if (lane == 0) atomicExch(&words[piece], 1 + piece);
  int before = lane >= piece;
  while (!__all_sync(0xffffffffu, before != 0))
    if (lane < piece) before = *static_cast<volatile int*>(words + lane);  // here
  before = __reduce_add_sync(0xffffffffu, lane < piece ? before : 0);
  if (lane == 0) y[piece] = static_cast<float>(before);
}
PLANT(whole_warps_wait)

// waits-for-unbegun
template <bool BUG> __global__ void whole_blocks_wait(const float* x, float* y, int* words) {
  const int piece = BUG ? blockIdx.x : ticket(words);
  volatile int* done = words;
  while (!__syncthreads_or(piece == 0 || (threadIdx.x == 0 && done[piece - 1] != 0))) {}  // here
  if (threadIdx.x != 0) return;
  y[piece] = x[piece];
  __threadfence();
  done[piece] = 1;
}
PLANT(whole_blocks_wait)

static __global__ void barrier_by_hand_kernel(const float* x, float* y, int* words) {
  const int i = blockIdx.x * 25 + threadIdx.x;
  if (threadIdx.x < 25) y[i] = x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&words[0], 1);
    while (atomicAdd(&words[0], 0) < gridDim.x) {}  // here
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) words[1 + blockIdx.x] = static_cast<int>(y[(i + 50) % 100]);
}
// waits-for-unbegun
template <bool BUG> torch::Tensor barrier_by_hand(torch::Tensor x) {
  return launched(barrier_by_hand_kernel, BUG ? Way::ORDINARY : Way::TOGETHER, x);
}
PLANT_HOST(barrier_by_hand)

static __global__ void neighbours_kernel(const float* x, float* y, int* words) {
  if (threadIdx.x != 0) return;
  const int me = blockIdx.x, other = me ^ 1;
  y[me] = x[me];
  Word(words[me]).store(1, release);
  while (Word(words[other]).load(acquire) == 0) {}  // here
  y[4 + me] = y[other];
}
// waits-for-unbegun
template <bool BUG> torch::Tensor neighbours(torch::Tensor x) {
  return launched(neighbours_kernel, BUG ? Way::ORDINARY : Way::CLUSTERS, x);
}
PLANT_HOST(neighbours)

// waits-for-unbegun
template <bool BUG> __global__ void one_block_prepares(const float* x, float* y, int* words) {
  const int number = BUG ? blockIdx.x : ticket(words);
  if (threadIdx.x != 0) return;
  if (number == 0) {
    y[0] = x[0];
    __threadfence();
    atomicExch(&words[0], 1);
  } else {
    while (atomicAdd(&words[0], 0) == 0) {}  // here
    y[number] = y[0];
  }
}
PLANT(one_block_prepares)

// waits-for-unbegun
template <bool BUG> __global__ void one_after_the_other(const float* x, float* y, int* words) {
  if (threadIdx.x != 0) return;
  const int free = BUG ? blockIdx.x : 0, taken = BUG ? blockIdx.x : 1;
  while (atomicCAS(&words[0], free, taken) != free) {}  // here
  __threadfence();
  y[0] = y[0] + x[blockIdx.x];
  __threadfence();
  atomicExch(&words[0], BUG ? blockIdx.x + 1 : 0);
}
PLANT(one_after_the_other)

// waits-for-unbegun
template <bool BUG> __global__ void one_block_adds_up(const float* x, float* y, int* words) {
  if (threadIdx.x != 0) return;
  y[1 + blockIdx.x] = x[blockIdx.x];
  __threadfence();
  const int before = atomicAdd(&words[0], 1);
  if (BUG ? blockIdx.x > 0 : before + 1 < gridDim.x) return;
  while (BUG && atomicAdd(&words[0], 0) < gridDim.x) {}  // here
  __threadfence();
  y[0] = y[1] + y[2] + y[3] + y[4];
}
PLANT(one_block_adds_up)

// Whoever has waited long enough does the work himself.
// waits-for-unbegun
template <bool BUG> __global__ void waits_without_giving_up(const float* x, float* y, int* words) {
  if (threadIdx.x != 0) return;
  const int piece = blockIdx.x;
  volatile int* done = words;
  int known = piece == 0;
  for (int looks = 0; !known && (BUG || looks < 50000); looks += !BUG) known = done[piece - 1];  // here
  float sum = known && piece > 0 ? y[piece - 1] : 0.0f;
  for (int i = known ? piece : 0; i <= piece; ++i) sum += x[i];
  y[piece] = sum;
  __threadfence();
  done[piece] = 1;
}
PLANT(waits_without_giving_up)

static __global__ void grid_sync_kernel(const float* x, float* y, int*) {
  const int i = blockIdx.x * 25 + threadIdx.x;
  if (threadIdx.x < 25) y[i] = x[i];
  cg::this_grid().sync();  // here
  const float other = y[(i + 50) % 100];
  cg::this_grid().sync();
  if (threadIdx.x == 0) y[i] = other;
}
// launch
template <bool BUG> torch::Tensor grid_sync(torch::Tensor x) {
  return launched(grid_sync_kernel, BUG ? Way::ORDINARY : Way::TOGETHER, x);
}
PLANT_HOST(grid_sync)
