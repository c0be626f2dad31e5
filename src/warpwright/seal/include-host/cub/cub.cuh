// CUB by name. Block and warp primitives appear in device code, which is dropped; device-wide algorithms that host code
// calls are not covered, and say so.
#ifndef WARPWRIGHT_CUB_H
#define WARPWRIGHT_CUB_H

#include "../cuda_runtime.h"

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
struct Sum {};
struct Max {};
struct Min {};
template <class K, class V>
struct KeyValuePair {
  K key;
  V value;
};

struct DeviceAlgorithm {
#define WARPWRIGHT_ALGORITHM(NAME)                       \
  template <class... A>                                  \
  static cudaError_t NAME(const A&...) {                 \
    ::warpwright::unsupported("cub device-wide " #NAME); \
  }
  WARPWRIGHT_ALGORITHM(Sum)
  WARPWRIGHT_ALGORITHM(Max)
  WARPWRIGHT_ALGORITHM(Min)
  WARPWRIGHT_ALGORITHM(Reduce)
  WARPWRIGHT_ALGORITHM(InclusiveSum)
  WARPWRIGHT_ALGORITHM(ExclusiveSum)
  WARPWRIGHT_ALGORITHM(InclusiveScan)
  WARPWRIGHT_ALGORITHM(ExclusiveScan)
  WARPWRIGHT_ALGORITHM(SortKeys)
  WARPWRIGHT_ALGORITHM(SortPairs)
  WARPWRIGHT_ALGORITHM(SortPairsDescending)
  WARPWRIGHT_ALGORITHM(Flagged)
#undef WARPWRIGHT_ALGORITHM
};
using DeviceReduce = DeviceAlgorithm;
using DeviceScan = DeviceAlgorithm;
using DeviceRadixSort = DeviceAlgorithm;
using DeviceSelect = DeviceAlgorithm;
using DeviceSegmentedReduce = DeviceAlgorithm;

// The size of their shared storage is known only to the device compiler.
template <class T, int BLOCK, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
struct BlockReduce {
  struct TempStorage;
};
template <class T, int BLOCK, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
struct BlockScan {
  struct TempStorage;
};
template <class T, int LANES = 32>
struct WarpReduce {
  struct TempStorage;
};

}  // namespace cub

#endif
