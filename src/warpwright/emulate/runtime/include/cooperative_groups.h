// Cooperative groups: sets of threads that can wait for each other and exchange values.
#ifndef WARPWRIGHT_COOPERATIVE_GROUPS_H
#define WARPWRIGHT_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups {

namespace emulated = warpwright::emulated;

struct thread_block {
  static void sync(WARPWRIGHT_LINE) { emulated::barrier(line); }
  static unsigned thread_rank() { return emulated::thread_number; }
  static unsigned size() { return emulated::block_threads(); }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  static unsigned barrier_arrive() { warpwright::unsupported("thread_block.barrier_arrive"); }
};
inline thread_block this_thread_block() { return {}; }

struct grid_group {
  static void sync(WARPWRIGHT_LINE) { emulated::grid_barrier(line); }
  static bool is_valid() { return true; }
  static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long num_blocks() { return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }
  static unsigned long long thread_rank() { return block_rank() * emulated::block_threads() + emulated::thread_number; }
  static unsigned long long size() { return num_blocks() * emulated::block_threads(); }
  static unsigned long long num_threads() { return size(); }
  static dim3 group_dim() { return gridDim; }
};
inline grid_group this_grid() { return {}; }

struct cluster_group {
  static void sync(WARPWRIGHT_LINE) { emulated::cluster_barrier(line); }
  static unsigned block_rank() { return emulated::cluster_rank(); }
  static unsigned num_blocks() { return emulated::cluster_blocks(); }
  static unsigned thread_rank() { return block_rank() * emulated::block_threads() + emulated::thread_number; }
  static unsigned size() { return num_blocks() * emulated::block_threads(); }
  static unsigned num_threads() { return size(); }
  template <class T>
  static T* map_shared_rank(T* mine, unsigned rank) {
    return static_cast<T*>(emulated::in_cluster(mine, rank));
  }
  static void barrier_arrive() { warpwright::unsupported("cluster_group.barrier_arrive"); }
  static void barrier_wait() { warpwright::unsupported("cluster_group.barrier_wait"); }
};
inline cluster_group this_cluster() { return {}; }

// Lanes of one warp, by their mask. Ranks count the lanes of the group.
class warp_lanes {
 public:
  void sync(WARPWRIGHT_LINE) const { __syncwarp(mask_, line); }
  unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return static_cast<unsigned>(__popc(mask_ & ((1u << emulated::lane()) - 1u))); }
  int any(int predicate, WARPWRIGHT_LINE) const { return __any_sync(mask_, predicate, line); }
  int all(int predicate, WARPWRIGHT_LINE) const { return __all_sync(mask_, predicate, line); }
  unsigned ballot(int predicate, WARPWRIGHT_LINE) const { return packed(__ballot_sync(mask_, predicate, line)); }
  template <class T>
  unsigned match_any(T value, WARPWRIGHT_LINE) const {
    return packed(__match_any_sync(mask_, value, line));
  }
  template <class T>
  unsigned match_all(T value, int& all, WARPWRIGHT_LINE) const {
    return packed(__match_all_sync(mask_, value, &all, line));
  }
  template <class T>
  T shfl(T value, int rank, WARPWRIGHT_LINE) const {
    return from(value, rank, line);
  }
  template <class T>
  T shfl_up(T value, unsigned by, WARPWRIGHT_LINE) const {
    int rank = static_cast<int>(thread_rank()) - static_cast<int>(by);
    return from(value, rank < 0 ? static_cast<int>(thread_rank()) : rank, line);
  }
  template <class T>
  T shfl_down(T value, unsigned by, WARPWRIGHT_LINE) const {
    unsigned rank = thread_rank() + by;
    return from(value, static_cast<int>(rank < size() ? rank : thread_rank()), line);
  }
  template <class T>
  T shfl_xor(T value, unsigned by, WARPWRIGHT_LINE) const {
    unsigned rank = thread_rank() ^ by;
    return from(value, static_cast<int>(rank < size() ? rank : thread_rank()), line);
  }
  unsigned lanes() const { return mask_; }

 protected:
  explicit warp_lanes(unsigned mask) : mask_(mask) {}
  template <class T>
  T from(T value, int rank, int line) const {
    return emulated::shuffle(emulated::Kind::SHUFFLE, mask_, value,
                             __fns(mask_, 0, rank % static_cast<int>(size()) + 1), line);
  }
  unsigned packed(unsigned lanes) const {
    unsigned result = 0, rank = 0;
    for (unsigned i = 0; i < 32; ++i)
      if (mask_ >> i & 1) result |= (lanes >> i & 1u) << rank++;
    return result;
  }
  unsigned mask_;
};

class coalesced_group : public warp_lanes {
 public:
  explicit coalesced_group(unsigned mask) : warp_lanes(mask) {}
  unsigned meta_group_rank() const { return 0; }
  unsigned meta_group_size() const { return 1; }
};
inline coalesced_group coalesced_threads(WARPWRIGHT_LINE) { return coalesced_group(__activemask(line)); }

inline unsigned warpwright_tile(unsigned size) {
  const unsigned first = emulated::lane() / size * size,
                 beyond = emulated::block_threads() - (emulated::thread_number & ~31u);
  const unsigned full = size >= 32 ? 0xffffffffu : ((1u << size) - 1u) << first;
  return beyond >= 32 ? full : full & ((1u << beyond) - 1u);
}

template <unsigned N, class Parent = void>
class thread_block_tile : public warp_lanes {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "tiles of more than a warp are not covered");

 public:
  thread_block_tile() : warp_lanes(warpwright_tile(N)) {}
  template <class P>
  thread_block_tile(const thread_block_tile<N, P>&) : thread_block_tile() {}
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  unsigned thread_rank() const { return emulated::lane() % N; }
  unsigned meta_group_rank() const { return emulated::thread_number / N; }
  unsigned meta_group_size() const { return (emulated::block_threads() + N - 1) / N; }
};
template <unsigned N, class Parent>
thread_block_tile<N, Parent> tiled_partition(const Parent&) {
  return {};
}
template <class Parent>
coalesced_group tiled_partition(const Parent&, unsigned size) {
  return coalesced_group(warpwright_tile(size));
}
inline coalesced_group binary_partition(const coalesced_group& group, bool predicate) {
  const unsigned yes = __ballot_sync(group.lanes(), predicate);
  return coalesced_group(predicate ? yes : group.lanes() & ~yes);
}

using thread_group = coalesced_group;
template <class Group>
void sync(const Group& group, WARPWRIGHT_LINE) {
  group.sync(line);
}
template <class Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
  return group.size();
}

template <class T = void>
struct plus {
  template <class A>
  A operator()(A a, A b) const {
    return a + b;
  }
};
template <class T = void>
struct less {
  template <class A>
  A operator()(A a, A b) const {
    return b < a ? b : a;
  }
};
template <class T = void>
struct greater {
  template <class A>
  A operator()(A a, A b) const {
    return a < b ? b : a;
  }
};
template <class T = void>
struct bit_and {
  template <class A>
  A operator()(A a, A b) const {
    return a & b;
  }
};
template <class T = void>
struct bit_or {
  template <class A>
  A operator()(A a, A b) const {
    return a | b;
  }
};
template <class T = void>
struct bit_xor {
  template <class A>
  A operator()(A a, A b) const {
    return a ^ b;
  }
};

template <class Group, class T, class F>
T reduce(const Group& group, T value, F join, WARPWRIGHT_LINE) {
  // Reduces as a tree, like hardware; in a group of odd size the last value is left over.
  const unsigned rank = group.thread_rank();
  for (unsigned step = 1; step < group.size(); step *= 2) {
    T other = group.shfl_down(value, step, line);
    if (rank + step < group.size() && rank % (2 * step) == 0) value = join(value, other);
  }
  return group.shfl(value, 0, line);
}
template <class Group, class T, class F = plus<T>>
T inclusive_scan(const Group& group, T value, F join = F(), WARPWRIGHT_LINE) {
  for (unsigned step = 1; step < group.size(); step *= 2) {
    T other = group.shfl_up(value, step, line);
    if (group.thread_rank() >= step) value = join(other, value);
  }
  return value;
}
template <class Group, class T, class F = plus<T>>
T exclusive_scan(const Group& group, T value, F join = F(), WARPWRIGHT_LINE) {
  T before = group.shfl_up(inclusive_scan(group, value, join, line), 1, line);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class F>
void invoke_one(const Group& group, F&& work) {
  if (group.thread_rank() == 0) work();
}

// Each thread of the group copies its share; the copies arrive when the group waits.
template <class Group, class T, class N>
void memcpy_async(const Group& group, T* target, const T* source, const N& bytes) {
  emulated::copy_share(group.thread_rank(), group.size(), target, source, static_cast<size_t>(bytes), sizeof(T));
  emulated::async_commit();
}
template <class Group, class T, class To, class From>
void memcpy_async(const Group& group, T* target, const To& room, const T* source, const From& count) {
  const size_t elements = static_cast<size_t>(room) < static_cast<size_t>(count) ? static_cast<size_t>(room)
                                                                                 : static_cast<size_t>(count);
  memcpy_async(group, target, source, elements * sizeof(T));
}
template <class Group>
void wait(const Group& group, WARPWRIGHT_LINE) {
  emulated::async_wait(0);
  group.sync(line);
}
template <unsigned N, class Group>
void wait_prior(const Group& group, WARPWRIGHT_LINE) {
  emulated::async_wait(N);
  group.sync(line);
}

}  // namespace cooperative_groups

#endif
