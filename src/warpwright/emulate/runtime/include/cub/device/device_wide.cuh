// CUB's device-wide reductions and scans. A call without storage only returns the needed size, and a call with too
// little fails, as in CUB. The needed storage is written to, so that missing storage is detected.
#ifndef WARPWRIGHT_CUB_DEVICE_WIDE_H
#define WARPWRIGHT_CUB_DEVICE_WIDE_H

#include "../cub.cuh"
#include "../iterator/iterators.cuh"
#include "warpwright/emulated/device_wide.h"

namespace cub {

namespace device_wide {

using emulated::Caller;
using emulated::value_at;

struct Storage {
  char* begin;
  size_t bytes;
  // By one thread of the launch.
  void use() const {
    if (emulated::thread_number != 0 || blockIdx.x != 0) return;
    emulated::touch(begin, 1, emulated::Access::WRITE);
    emulated::touch(begin + bytes - 1, 1, emulated::Access::WRITE);
  }
};

// One tile needs no storage, but CUB never returns 0. Beyond that each tile stores a result, up to a full device.
template <class T>
size_t bytes_for(int64_t items) {
  constexpr int64_t TILE = 4096, MOST = 5280, ALIGNED = 256;
  const int64_t tiles = (items + TILE - 1) / TILE;
  if (tiles <= 1) return 1;
  const int64_t bytes = (tiles < MOST ? tiles : MOST) * static_cast<int64_t>(sizeof(T));
  return static_cast<size_t>((bytes + ALIGNED - 1) / ALIGNED * ALIGNED + ALIGNED - 1);
}

// Whether there is work to do; otherwise `told` is the result of the call.
inline bool begins(const Storage& storage, size_t& bytes, cudaError_t& told) {
  told = storage.begin && bytes < storage.bytes ? cudaErrorInvalidValue : cudaSuccess;
  if (!storage.begin) bytes = storage.bytes;
  return storage.begin && told == cudaSuccess;
}

template <class T, class I, class O, class F>
cudaError_t reduce(const Caller& caller, void* storage, size_t& bytes, I in, O out, int64_t items, F join, T first) {
  cudaError_t told;
  const Storage used{static_cast<char*>(storage), bytes_for<T>(items)};
  if (!begins(used, bytes, told)) return told;
  emulated::launch_wide(
      caller, 1,
      [](Storage mine, I from, O to, int64_t count, F with, T start) {
        mine.use();
        const T total = emulated::reduced<T>(from, 0, count, with, start);
        if (emulated::thread_number == 0) *to = total;
      },
      used, in, out, items, join, first);
  return told;
}

template <class T, class I, class O, class B, class E, class F>
cudaError_t reduce_segments(const Caller& caller, void* storage, size_t& bytes, I in, O out, int64_t segments,
                            B begins_at, E ends_at, F join, T first) {
  cudaError_t told;
  const Storage used{static_cast<char*>(storage), 1};
  if (!begins(used, bytes, told)) return told;
  emulated::launch_wide(
      caller, segments,
      [](Storage mine, I from, O to, B begin, E end, F with, T start) {
        mine.use();
        const T total = emulated::reduced<T>(from, begin[blockIdx.x], end[blockIdx.x], with, start);
        if (emulated::thread_number == 0) to[blockIdx.x] = total;
      },
      used, in, out, begins_at, ends_at, join, first);
  return told;
}

template <emulated::Scan KIND, class T, class I, class O, class F>
cudaError_t scan(const Caller& caller, void* storage, size_t& bytes, I in, O out, int64_t items, F join, T first) {
  cudaError_t told;
  const Storage used{static_cast<char*>(storage), bytes_for<T>(items)};
  if (!begins(used, bytes, told) || items == 0) return told;
  emulated::launch_wide(
      caller, 1,
      [](Storage mine, I from, O to, int64_t count, F with, T start) {
        mine.use();
        emulated::scanned<KIND, T>(from, to, count, with, start);
      },
      used, in, out, items, join, first);
  return told;
}

// A range with the place of each element.
template <class I>
struct Numbered {
  KeyValuePair<int, value_at<I>> operator[](int64_t i) const { return {static_cast<int>(i), in[i]}; }
  I in;
};

template <class T>
constexpr T lowest() {
  static_assert(std::numeric_limits<T>::is_specialized, "a type whose limits are not known");
  return std::numeric_limits<T>::lowest();
}
template <class T>
constexpr T highest() {
  static_assert(std::numeric_limits<T>::is_specialized, "a type whose limits are not known");
  return std::numeric_limits<T>::max();
}

}  // namespace device_wide

#define WARPWRIGHT_CALLER(NAME) \
  device_wide::Caller { "cub::" NAME, line, stream }
#define WARPWRIGHT_STORED void *storage, size_t &bytes
#define WARPWRIGHT_STREAM cudaStream_t stream = nullptr, WARPWRIGHT_LINE
#define WARPWRIGHT_UNSUPPORTED(FAMILY, NAME)                          \
  template <class... A>                                               \
  static cudaError_t NAME(const A&...) {                              \
    ::warpwright::unsupported("cub device-wide " #FAMILY "::" #NAME); \
  }

struct DeviceReduce {
  template <class I, class O, class F, class T>
  static cudaError_t Reduce(WARPWRIGHT_STORED, I in, O out, int64_t items, F join, T first, WARPWRIGHT_STREAM) {
    using A = emulated::accumulated<F, T, device_wide::value_at<I>>;
    return device_wide::reduce<A>(WARPWRIGHT_CALLER("DeviceReduce::Reduce"), storage, bytes, in, out, items, join,
                                  static_cast<A>(first));
  }
  template <class I, class O>
  static cudaError_t Sum(WARPWRIGHT_STORED, I in, O out, int64_t items, WARPWRIGHT_STREAM) {
    using A = emulated::accumulated<cub::Sum, device_wide::value_at<O>, device_wide::value_at<I>>;
    return device_wide::reduce<A>(WARPWRIGHT_CALLER("DeviceReduce::Sum"), storage, bytes, in, out, items, cub::Sum(),
                                  A());
  }
  template <class I, class O>
  static cudaError_t Max(WARPWRIGHT_STORED, I in, O out, int64_t items, WARPWRIGHT_STREAM) {
    using T = device_wide::value_at<I>;
    return device_wide::reduce<T>(WARPWRIGHT_CALLER("DeviceReduce::Max"), storage, bytes, in, out, items, cub::Max(),
                                  device_wide::lowest<T>());
  }
  template <class I, class O>
  static cudaError_t Min(WARPWRIGHT_STORED, I in, O out, int64_t items, WARPWRIGHT_STREAM) {
    using T = device_wide::value_at<I>;
    return device_wide::reduce<T>(WARPWRIGHT_CALLER("DeviceReduce::Min"), storage, bytes, in, out, items, cub::Min(),
                                  device_wide::highest<T>());
  }
  template <class I, class O>
  static cudaError_t ArgMax(WARPWRIGHT_STORED, I in, O out, int64_t items, WARPWRIGHT_STREAM) {
    using T = KeyValuePair<int, device_wide::value_at<I>>;
    const T first{1, device_wide::lowest<device_wide::value_at<I>>()};
    return device_wide::reduce<T>(WARPWRIGHT_CALLER("DeviceReduce::ArgMax"), storage, bytes,
                                  device_wide::Numbered<I>{in}, out, items, cub::ArgMax(), first);
  }
  template <class I, class O>
  static cudaError_t ArgMin(WARPWRIGHT_STORED, I in, O out, int64_t items, WARPWRIGHT_STREAM) {
    using T = KeyValuePair<int, device_wide::value_at<I>>;
    const T first{1, device_wide::highest<device_wide::value_at<I>>()};
    return device_wide::reduce<T>(WARPWRIGHT_CALLER("DeviceReduce::ArgMin"), storage, bytes,
                                  device_wide::Numbered<I>{in}, out, items, cub::ArgMin(), first);
  }
  template <class I, class O, class F, class G, class T>
  static cudaError_t TransformReduce(WARPWRIGHT_STORED, I in, O out, int64_t items, F join, G change, T first,
                                     WARPWRIGHT_STREAM) {
    using Changed = TransformInputIterator<std::decay_t<std::invoke_result_t<G, device_wide::value_at<I>>>, G, I>;
    using A = emulated::accumulated<F, T, device_wide::value_at<Changed>>;
    return device_wide::reduce<A>(WARPWRIGHT_CALLER("DeviceReduce::TransformReduce"), storage, bytes,
                                  Changed(in, change), out, items, join, static_cast<A>(first));
  }
  WARPWRIGHT_UNSUPPORTED(DeviceReduce, ReduceByKey)
};

struct DeviceSegmentedReduce {
  template <class I, class O, class B, class E, class F, class T>
  static cudaError_t Reduce(WARPWRIGHT_STORED, I in, O out, int64_t segments, B begin, E end, F join, T first,
                            WARPWRIGHT_STREAM) {
    using A = emulated::accumulated<F, T, device_wide::value_at<I>>;
    return device_wide::reduce_segments<A>(WARPWRIGHT_CALLER("DeviceSegmentedReduce::Reduce"), storage, bytes, in, out,
                                           segments, begin, end, join, static_cast<A>(first));
  }
  template <class I, class O, class B, class E>
  static cudaError_t Sum(WARPWRIGHT_STORED, I in, O out, int64_t segments, B begin, E end, WARPWRIGHT_STREAM) {
    using A = emulated::accumulated<cub::Sum, device_wide::value_at<O>, device_wide::value_at<I>>;
    return device_wide::reduce_segments<A>(WARPWRIGHT_CALLER("DeviceSegmentedReduce::Sum"), storage, bytes, in, out,
                                           segments, begin, end, cub::Sum(), A());
  }
  template <class I, class O, class B, class E>
  static cudaError_t Max(WARPWRIGHT_STORED, I in, O out, int64_t segments, B begin, E end, WARPWRIGHT_STREAM) {
    using T = device_wide::value_at<I>;
    return device_wide::reduce_segments<T>(WARPWRIGHT_CALLER("DeviceSegmentedReduce::Max"), storage, bytes, in, out,
                                           segments, begin, end, cub::Max(), device_wide::lowest<T>());
  }
  template <class I, class O, class B, class E>
  static cudaError_t Min(WARPWRIGHT_STORED, I in, O out, int64_t segments, B begin, E end, WARPWRIGHT_STREAM) {
    using T = device_wide::value_at<I>;
    return device_wide::reduce_segments<T>(WARPWRIGHT_CALLER("DeviceSegmentedReduce::Min"), storage, bytes, in, out,
                                           segments, begin, end, cub::Min(), device_wide::highest<T>());
  }
  WARPWRIGHT_UNSUPPORTED(DeviceSegmentedReduce, ArgMax)
  WARPWRIGHT_UNSUPPORTED(DeviceSegmentedReduce, ArgMin)
};

struct DeviceScan {
  template <class I, class O>
  static cudaError_t InclusiveSum(WARPWRIGHT_STORED, I in, O out, int64_t items, WARPWRIGHT_STREAM) {
    using A = emulated::accumulated<cub::Sum, device_wide::value_at<I>, device_wide::value_at<I>>;
    return device_wide::scan<emulated::Scan::INCLUSIVE, A>(WARPWRIGHT_CALLER("DeviceScan::InclusiveSum"), storage,
                                                           bytes, in, out, items, cub::Sum(), A());
  }
  template <class I, class O>
  static cudaError_t ExclusiveSum(WARPWRIGHT_STORED, I in, O out, int64_t items, WARPWRIGHT_STREAM) {
    using A = emulated::accumulated<cub::Sum, device_wide::value_at<I>, device_wide::value_at<I>>;
    return device_wide::scan<emulated::Scan::EXCLUSIVE, A>(WARPWRIGHT_CALLER("DeviceScan::ExclusiveSum"), storage,
                                                           bytes, in, out, items, cub::Sum(), A());
  }
  template <class I, class O, class F>
  static cudaError_t InclusiveScan(WARPWRIGHT_STORED, I in, O out, F join, int64_t items, WARPWRIGHT_STREAM) {
    using A = emulated::accumulated<F, device_wide::value_at<I>, device_wide::value_at<I>>;
    return device_wide::scan<emulated::Scan::INCLUSIVE, A>(WARPWRIGHT_CALLER("DeviceScan::InclusiveScan"), storage,
                                                           bytes, in, out, items, join, A());
  }
  template <class I, class O, class F, class T>
  static cudaError_t InclusiveScanInit(WARPWRIGHT_STORED, I in, O out, F join, T first, int64_t items,
                                       WARPWRIGHT_STREAM) {
    using A = emulated::accumulated<F, T, device_wide::value_at<I>>;
    return device_wide::scan<emulated::Scan::INCLUSIVE_FROM, A>(WARPWRIGHT_CALLER("DeviceScan::InclusiveScanInit"),
                                                                storage, bytes, in, out, items, join,
                                                                static_cast<A>(first));
  }
  template <class I, class O, class F, class T>
  static cudaError_t ExclusiveScan(WARPWRIGHT_STORED, I in, O out, F join, T first, int64_t items, WARPWRIGHT_STREAM) {
    using A = emulated::accumulated<F, T, device_wide::value_at<I>>;
    return device_wide::scan<emulated::Scan::EXCLUSIVE, A>(WARPWRIGHT_CALLER("DeviceScan::ExclusiveScan"), storage,
                                                           bytes, in, out, items, join, static_cast<A>(first));
  }
  WARPWRIGHT_UNSUPPORTED(DeviceScan, InclusiveSumByKey)
  WARPWRIGHT_UNSUPPORTED(DeviceScan, ExclusiveSumByKey)
};

struct DeviceRadixSort {
  WARPWRIGHT_UNSUPPORTED(DeviceRadixSort, SortKeys)
  WARPWRIGHT_UNSUPPORTED(DeviceRadixSort, SortKeysDescending)
  WARPWRIGHT_UNSUPPORTED(DeviceRadixSort, SortPairs)
  WARPWRIGHT_UNSUPPORTED(DeviceRadixSort, SortPairsDescending)
};
struct DeviceSelect {
  WARPWRIGHT_UNSUPPORTED(DeviceSelect, Flagged)
  WARPWRIGHT_UNSUPPORTED(DeviceSelect, If)
  WARPWRIGHT_UNSUPPORTED(DeviceSelect, Unique)
};

#undef WARPWRIGHT_CALLER
#undef WARPWRIGHT_STORED
#undef WARPWRIGHT_STREAM
#undef WARPWRIGHT_UNSUPPORTED

}  // namespace cub

#endif
