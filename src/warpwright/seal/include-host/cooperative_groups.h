// Cooperative groups by name, for signatures; groups exist on the device only.
#ifndef WARPWRIGHT_COOPERATIVE_GROUPS_H
#define WARPWRIGHT_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups {

struct thread_group {
  void sync() const { WARPWRIGHT_DEVICE_ONLY(thread_group); }
  unsigned int size() const { WARPWRIGHT_DEVICE_ONLY(thread_group); }
  unsigned int thread_rank() const { WARPWRIGHT_DEVICE_ONLY(thread_group); }
};
struct thread_block : thread_group {};
struct grid_group : thread_group {};
struct cluster_group : thread_group {};
struct coalesced_group : thread_group {};
template <unsigned int N, class Parent = void>
struct thread_block_tile : thread_group {};
template <unsigned int N, class Parent>
thread_block_tile<N, Parent> tiled_partition(const Parent&) {
  WARPWRIGHT_DEVICE_ONLY(tiled_partition);
}
inline thread_block this_thread_block() { WARPWRIGHT_DEVICE_ONLY(this_thread_block); }
inline grid_group this_grid() { WARPWRIGHT_DEVICE_ONLY(this_grid); }
inline cluster_group this_cluster() { WARPWRIGHT_DEVICE_ONLY(this_cluster); }
template <class T>
struct plus {};
template <class T>
struct greater {};
template <class T>
struct less {};

}  // namespace cooperative_groups

#endif
