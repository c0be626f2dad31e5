// CUB's block-wide and warp-wide collectives; device/ has the device-wide ones. Results are defined where CUB defines
// them, and nowhere else; temporary storage is actual shared memory, so that premature reuse is detected.
#ifndef WARPWRIGHT_CUB_H
#define WARPWRIGHT_CUB_H

#include <limits>
#include <type_traits>

#include "../cuda_runtime.h"

namespace cub {

namespace emulated = warpwright::emulated;

struct Sum {
  template <class A, class B>
  auto operator()(const A& a, const B& b) const {
    return a + b;
  }
};
struct Max {
  template <class A, class B>
  std::common_type_t<A, B> operator()(const A& a, const B& b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class A, class B>
  std::common_type_t<A, B> operator()(const A& a, const B& b) const {
    return b < a ? b : a;
  }
};
template <class K, class V>
struct KeyValuePair {
  K key;
  V value;
};
struct ArgMax {
  template <class P>
  P operator()(const P& a, const P& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class P>
  P operator()(const P& a, const P& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
using CTA_SYNC = void;

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE
};

// The value of a thread whose result is undefined.
template <class T>
T nothing_meant(const T& value) {
  if constexpr (std::is_floating_point<T>::value)
    return std::numeric_limits<T>::quiet_NaN();
  else
    return value;
}

template <class T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce {
 public:
  struct TempStorage {
    T items[X * Y * Z];
  };
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}
  template <class F>
  T Reduce(T value, F join, WARPWRIGHT_LINE) {
    return reduce(value, join, X * Y * Z, line);
  }
  template <class F>
  T Reduce(T value, F join, int valid, WARPWRIGHT_LINE) {
    return reduce(value, join, valid, line);
  }
  template <int N, class F>
  T Reduce(T (&values)[N], F join, WARPWRIGHT_LINE) {
    T own = values[0];
    for (int i = 1; i < N; ++i) own = join(own, values[i]);
    return reduce(own, join, X * Y * Z, line);
  }
  T Sum(T value, WARPWRIGHT_LINE) { return reduce(value, cub::Sum(), X * Y * Z, line); }
  T Sum(T value, int valid, WARPWRIGHT_LINE) { return reduce(value, cub::Sum(), valid, line); }
  template <int N>
  T Sum(T (&values)[N], WARPWRIGHT_LINE) {
    return Reduce(values, cub::Sum(), line);
  }

 private:
  template <class F>
  T reduce(const T& value, F join, int valid, int line) {
    const int me = static_cast<int>(emulated::thread_number);
    storage_.items[me] = value;
    __syncthreads(line);
    if (me != 0) return nothing_meant(value);
    T total = value;
    for (int i = 1; i < valid && i < X * Y * Z; ++i) total = join(total, storage_.items[i]);
    return total;
  }
  TempStorage& storage_;
};

template <class T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
class BlockScan {
 public:
  struct TempStorage {
    T items[X * Y * Z + 2];
  };
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  void InclusiveSum(T in, T& out, WARPWRIGHT_LINE) {
    T all;
    scan_one(in, out, cub::Sum(), true, all, line);
  }
  void InclusiveSum(T in, T& out, T& all, WARPWRIGHT_LINE) { scan_one(in, out, cub::Sum(), true, all, line); }
  void ExclusiveSum(T in, T& out, WARPWRIGHT_LINE) {
    T all;
    scan_one(in, out, cub::Sum(), false, all, line, T());
  }
  void ExclusiveSum(T in, T& out, T& all, WARPWRIGHT_LINE) { scan_one(in, out, cub::Sum(), false, all, line, T()); }
  template <class F>
  void InclusiveScan(T in, T& out, F join, WARPWRIGHT_LINE) {
    T all;
    scan_one(in, out, join, true, all, line);
  }
  template <class F>
  void InclusiveScan(T in, T& out, F join, T& all, WARPWRIGHT_LINE) {
    scan_one(in, out, join, true, all, line);
  }
  template <class F>
  void ExclusiveScan(T in, T& out, T first, F join, WARPWRIGHT_LINE) {
    T all;
    scan_one(in, out, join, false, all, line, first);
  }
  template <class F>
  void ExclusiveScan(T in, T& out, T first, F join, T& all, WARPWRIGHT_LINE) {
    scan_one(in, out, join, false, all, line, first);
  }
  template <int N>
  void InclusiveSum(T (&in)[N], T (&out)[N], WARPWRIGHT_LINE) {
    T all;
    scan(in, out, cub::Sum(), true, all, line);
  }
  template <int N>
  void InclusiveSum(T (&in)[N], T (&out)[N], T& all, WARPWRIGHT_LINE) {
    scan(in, out, cub::Sum(), true, all, line);
  }
  template <int N, class Prefix,
            std::enable_if_t<std::is_class<Prefix>::value && !std::is_same<Prefix, T>::value, int> = 0>
  void InclusiveSum(T (&in)[N], T (&out)[N], Prefix& prefix, WARPWRIGHT_LINE) {
    scan_after(in, out, cub::Sum(), true, prefix, line);
  }
  template <int N>
  void ExclusiveSum(T (&in)[N], T (&out)[N], WARPWRIGHT_LINE) {
    T all;
    scan(in, out, cub::Sum(), false, all, line, T());
  }
  template <int N>
  void ExclusiveSum(T (&in)[N], T (&out)[N], T& all, WARPWRIGHT_LINE) {
    scan(in, out, cub::Sum(), false, all, line, T());
  }
  template <int N, class Prefix,
            std::enable_if_t<std::is_class<Prefix>::value && !std::is_same<Prefix, T>::value, int> = 0>
  void ExclusiveSum(T (&in)[N], T (&out)[N], Prefix& prefix, WARPWRIGHT_LINE) {
    scan_after(in, out, cub::Sum(), false, prefix, line);
  }
  template <int N, class F>
  void InclusiveScan(T (&in)[N], T (&out)[N], F join, WARPWRIGHT_LINE) {
    T all;
    scan(in, out, join, true, all, line);
  }
  template <int N, class F>
  void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F join, WARPWRIGHT_LINE) {
    T all;
    scan(in, out, join, false, all, line, first);
  }

 private:
  static constexpr int THREADS = X * Y * Z;

  // Each thread's sum goes in, what comes before it comes out; the total is in the last place but one.
  template <class F>
  T before_me(const T& own, F join, T& all, int line) {
    const int me = static_cast<int>(emulated::thread_number);
    storage_.items[me] = own;
    __syncthreads(line);
    if (me == 0) {
      T total = storage_.items[0];
      for (int i = 1; i < THREADS; ++i) {
        T next = storage_.items[i];
        storage_.items[i] = total;
        total = join(total, next);
      }
      storage_.items[THREADS] = total;
    }
    __syncthreads(line);
    all = storage_.items[THREADS];
    return storage_.items[me];
  }
  template <int N, class F>
  void scan(T (&in)[N], T (&out)[N], F join, bool inclusive, T& all, int line, T first = T(), bool has_first = false) {
    T own = in[0];
    for (int i = 1; i < N; ++i) own = join(own, in[i]);
    T running = before_me(own, join, all, line);
    bool started = emulated::thread_number > 0;
    if (!inclusive || has_first) {
      running = started ? join(first, running) : first;
      started = true;
    }
    for (int i = 0; i < N; ++i) {
      const T value = in[i], next = started ? join(running, value) : value;
      out[i] = inclusive ? next : running;
      running = next;
      started = true;
    }
  }
  template <class F>
  void scan_one(T in, T& out, F join, bool inclusive, T& all, int line, T first = T()) {
    T values[1] = {in}, results[1];
    scan(values, results, join, inclusive, all, line, first);
    out = results[0];
  }
  // The whole first warp calls the prefix, and what its first lane gets is used.
  template <int N, class F, class Prefix>
  void scan_after(T (&in)[N], T (&out)[N], F join, bool inclusive, Prefix& prefix, int line) {
    T all, results[N];
    scan(in, results, join, inclusive, all, line);
    if (emulated::thread_number < 32) {
      T given = prefix(all);
      if (emulated::thread_number == 0) storage_.items[THREADS + 1] = given;
    }
    __syncthreads(line);
    const T start = storage_.items[THREADS + 1];
    for (int i = 0; i < N; ++i) out[i] = join(start, results[i]);
  }
  TempStorage& storage_;
};

template <class T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1>
class BlockLoad {
 public:
  struct TempStorage {
    char nothing;
  };
  BlockLoad() = default;
  explicit BlockLoad(TempStorage&) {}
  template <class I>
  void Load(I from, T (&items)[N]) {
    for (int i = 0; i < N; ++i) items[i] = from[place(i)];
  }
  template <class I>
  void Load(I from, T (&items)[N], int valid) {
    for (int i = 0; i < N; ++i)
      if (place(i) < valid) items[i] = from[place(i)];
  }
  template <class I, class D>
  void Load(I from, T (&items)[N], int valid, D otherwise) {
    for (int i = 0; i < N; ++i)
      items[i] = place(i) < valid ? static_cast<T>(from[place(i)]) : static_cast<T>(otherwise);
  }

 private:
  static int place(int i) {
    const int me = static_cast<int>(emulated::thread_number);
    return A == BLOCK_LOAD_STRIPED ? i * X * Y * Z + me : me * N + i;
  }
};

template <class T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1>
class BlockStore {
 public:
  struct TempStorage {
    char nothing;
  };
  BlockStore() = default;
  explicit BlockStore(TempStorage&) {}
  template <class O>
  void Store(O to, T (&items)[N]) {
    for (int i = 0; i < N; ++i) to[place(i)] = items[i];
  }
  template <class O>
  void Store(O to, T (&items)[N], int valid) {
    for (int i = 0; i < N; ++i)
      if (place(i) < valid) to[place(i)] = items[i];
  }

 private:
  static int place(int i) {
    const int me = static_cast<int>(emulated::thread_number);
    return A == BLOCK_STORE_STRIPED ? i * X * Y * Z + me : me * N + i;
  }
};

// Warps of LANES threads; the result is the first lane's.
template <class T, int LANES = 32>
class WarpReduce {
 public:
  struct TempStorage {
    char nothing;
  };
  explicit WarpReduce(TempStorage&) {}
  template <class F>
  T Reduce(T value, F join, WARPWRIGHT_LINE) {
    return Reduce(value, join, LANES, line);
  }
  template <class F>
  T Reduce(T value, F join, int valid, int line) {
    const int me = static_cast<int>(emulated::lane()) % LANES;
    T total = value;
    for (int step = 1; step < LANES; step *= 2) {
      T other = emulated::shuffle(emulated::Kind::SHUFFLE_DOWN, mask(), total,
                                  emulated::shuffle_source(emulated::Kind::SHUFFLE_DOWN, step, LANES), line);
      if (me + step < valid && me % (2 * step) == 0) total = join(total, other);
    }
    return me == 0 ? total : nothing_meant(value);
  }
  T Sum(T value, WARPWRIGHT_LINE) { return Reduce(value, cub::Sum(), LANES, line); }
  T Sum(T value, int valid, WARPWRIGHT_LINE) { return Reduce(value, cub::Sum(), valid, line); }

 private:
  static unsigned mask() {
    return LANES == 32 ? 0xffffffffu : ((1u << LANES % 32) - 1u) << emulated::lane() / LANES * LANES;
  }
};

template <class T, int LANES = 32>
class WarpScan {
 public:
  struct TempStorage {
    char nothing;
  };
  explicit WarpScan(TempStorage&) {}
  template <class F>
  void InclusiveScan(T in, T& out, F join, WARPWRIGHT_LINE) {
    const int me = static_cast<int>(emulated::lane()) % LANES;
    for (int step = 1; step < LANES; step *= 2) {
      T other = __shfl_up_sync(mask(), in, static_cast<unsigned>(step), LANES, line);
      if (me >= step) in = join(other, in);
    }
    out = in;
  }
  void InclusiveSum(T in, T& out, WARPWRIGHT_LINE) { InclusiveScan(in, out, cub::Sum(), line); }
  void ExclusiveSum(T in, T& out, WARPWRIGHT_LINE) {
    T inclusive;
    InclusiveScan(in, inclusive, cub::Sum(), line);
    T before = __shfl_up_sync(mask(), inclusive, 1u, LANES, line);
    out = emulated::lane() % LANES == 0 ? T() : before;
  }

 private:
  static unsigned mask() {
    return LANES == 32 ? 0xffffffffu : ((1u << LANES % 32) - 1u) << emulated::lane() / LANES * LANES;
  }
};

}  // namespace cub

#include "device/device_wide.cuh"

#endif
