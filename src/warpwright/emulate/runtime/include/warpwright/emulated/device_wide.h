// Device-wide algorithms of the toolkit's libraries, as kernels of our own: their accesses are checked like all others.
// One block shares out a range in stretches, so that sums are about as exact as those of a tree.
#ifndef WARPWRIGHT_EMULATED_DEVICE_WIDE_H
#define WARPWRIGHT_EMULATED_DEVICE_WIDE_H

#include <iterator>
#include <type_traits>

#include "warpwright/emulated/launch.h"

namespace warpwright::emulated {

constexpr int64_t WIDE_THREADS = 256;

template <class I>
using value_at = std::decay_t<decltype(*std::declval<I>())>;
// The accumulator type of a reduction that starts with one type and adds another.
template <class F, class First, class Next>
using accumulated = std::decay_t<std::invoke_result_t<F, First, Next>>;

// The call in host code that the kernel belongs to.
struct Caller {
  const char* name;
  int line;
  cudaStream_t stream;
};

template <class K, class... P>
void launch_wide(const Caller& caller, int64_t blocks, K kernel, const P&... parameters) {
  if (blocks <= 0) return;
  configure(dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(WIDE_THREADS)), 0, caller.stream);
  called_at(caller.line);
  enqueue(here(), caller.name, kernel, parameters...);
}

// The share of this thread in a range, as a stretch of it.
struct Stretch {
  Stretch(int64_t begin, int64_t end)
      : each(begin < end ? (end - begin + WIDE_THREADS - 1) / WIDE_THREADS : 0),
        first(begin + each * thread_number),
        last(end) {
    if (first + each < last) last = first + each;
  }
  bool empty() const { return first >= last; }
  int64_t each, first, last;
};

template <class T>
struct Totals {
  T of[WIDE_THREADS];
};

template <class T, class I, class F>
T total_of(I in, const Stretch& mine, F join) {
  T total = static_cast<T>(in[mine.first]);
  for (int64_t i = mine.first + 1; i < mine.last; ++i) total = join(total, static_cast<T>(in[i]));
  return total;
}

// The whole range joined to what it begins with; for the first thread.
template <class T, class I, class F>
T reduced(I in, int64_t begin, int64_t end, F join, T total) {
  Totals<T>& totals = shared<Totals<T>>("totals");
  const Stretch mine(begin, end);
  if (!mine.empty()) totals.of[thread_number] = total_of<T>(in, mine, join);
  barrier(0);
  if (thread_number != 0 || end <= begin) return total;
  for (int64_t t = 0; t * mine.each < end - begin; ++t) total = join(total, totals.of[t]);
  return total;
}

enum class Scan : uint8_t { INCLUSIVE, EXCLUSIVE, INCLUSIVE_FROM };  // the last two begin with what is given

template <Scan KIND, class T, class I, class O, class F>
void scanned(I in, O out, int64_t count, F join, T first) {
  Totals<T>& totals = shared<Totals<T>>("totals");
  const Stretch mine(0, count);
  if (!mine.empty()) totals.of[thread_number] = total_of<T>(in, mine, join);
  barrier(0);
  if (mine.empty()) return;
  constexpr bool given = KIND != Scan::INCLUSIVE;
  T running = given ? first : totals.of[0];
  for (unsigned t = given ? 0 : 1; t < thread_number; ++t) running = join(running, totals.of[t]);
  bool begun = given || thread_number > 0;
  for (int64_t i = mine.first; i < mine.last; ++i) {
    const T value = static_cast<T>(in[i]);
    const T next = begun ? static_cast<T>(join(running, value)) : value;
    out[i] = KIND == Scan::EXCLUSIVE ? running : next;
    running = next, begun = true;
  }
}

}  // namespace warpwright::emulated

#endif
