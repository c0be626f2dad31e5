// Thrust algorithms. In device code they are loops of the calling thread; host code with a device policy
// launches them. Those whose result the host would read are available only in device code.
#ifndef WARPWRIGHT_THRUST_ALGORITHMS_H
#define WARPWRIGHT_THRUST_ALGORITHMS_H

#include "execution_policy.h"
#include "functional.h"
#include "warpwright/emulated/device_wide.h"

namespace thrust {

namespace emulated = warpwright::emulated;
using emulated::value_at;

#define WARPWRIGHT_THRUST(...) template <execution_policy P, __VA_ARGS__> WARPWRIGHT_HERE
#define WARPWRIGHT_CALLER(NAME) \
  emulated::Caller { "thrust::" NAME, line, stream_of(policy) }
#define WARPWRIGHT_FOR_CALLER_ALONE(NAME) \
  if (!by_caller(policy)) ::warpwright::unsupported("thrust::" NAME " by host code, which reads device data")

// Calls `at` for each position of a range, in a loop of the caller or in one that a block shares.
template <class At, class... A>
void for_every(const emulated::Caller& caller, int64_t count, At at, const A&... operands) {
  emulated::launch_wide(
      caller, count > 0,
      [](int64_t places, At what, A... with) {
        for (int64_t i = emulated::thread_number; i < places; i += emulated::WIDE_THREADS) what(i, with...);
      },
      count, at, operands...);
}

WARPWRIGHT_THRUST(class I, class O, class F)
O transform(const P& policy, I first, I last, O out, F change, WARPWRIGHT_LINE) {
  const int64_t count = last - first;
  if (by_caller(policy))
    for (int64_t i = 0; i < count; ++i) out[i] = change(first[i]);
  else
    for_every(WARPWRIGHT_CALLER("transform"), count, [](int64_t i, I in, O to, F f) { to[i] = f(in[i]); }, first, out,
              change);
  return out + count;
}
WARPWRIGHT_THRUST(class I, class J, class O, class F)
O transform(const P& policy, I first, I last, J other, O out, F join, WARPWRIGHT_LINE) {
  const int64_t count = last - first;
  if (by_caller(policy))
    for (int64_t i = 0; i < count; ++i) out[i] = join(first[i], other[i]);
  else
    for_every(WARPWRIGHT_CALLER("transform"), count, [](int64_t i, I a, J b, O to, F f) { to[i] = f(a[i], b[i]); },
              first, other, out, join);
  return out + count;
}
WARPWRIGHT_THRUST(class I, class N, class F)
I for_each_n(const P& policy, I first, N count, F visit, WARPWRIGHT_LINE) {
  if (by_caller(policy))
    for (N i = 0; i < count; ++i) visit(first[i]);
  else
    for_every(WARPWRIGHT_CALLER("for_each"), count, [](int64_t i, I in, F f) { f(in[i]); }, first, visit);
  return first + count;
}
WARPWRIGHT_THRUST(class I, class F)
I for_each(const P& policy, I first, I last, F visit, WARPWRIGHT_LINE) {
  return for_each_n(policy, first, static_cast<int64_t>(last - first), visit, line);
}
WARPWRIGHT_THRUST(class O, class N, class T)
O fill_n(const P& policy, O first, N count, const T& value, WARPWRIGHT_LINE) {
  if (by_caller(policy))
    for (N i = 0; i < count; ++i) first[i] = value;
  else
    for_every(WARPWRIGHT_CALLER("fill"), count, [](int64_t i, O to, T v) { to[i] = v; }, first, value);
  return first + count;
}
WARPWRIGHT_THRUST(class O, class T)
void fill(const P& policy, O first, O last, const T& value, WARPWRIGHT_LINE) {
  fill_n(policy, first, static_cast<int64_t>(last - first), value, line);
}
WARPWRIGHT_THRUST(class I, class N, class O)
O copy_n(const P& policy, I first, N count, O out, WARPWRIGHT_LINE) {
  if (by_caller(policy))
    for (N i = 0; i < count; ++i) out[i] = first[i];
  else
    for_every(WARPWRIGHT_CALLER("copy"), count, [](int64_t i, I in, O to) { to[i] = in[i]; }, first, out);
  return out + count;
}
WARPWRIGHT_THRUST(class I, class O)
O copy(const P& policy, I first, I last, O out, WARPWRIGHT_LINE) {
  return copy_n(policy, first, static_cast<int64_t>(last - first), out, line);
}

// Scans. Each element is read before its place is written, so that they may be done in place.
template <emulated::Scan KIND, class I, class O, class F, class T>
WARPWRIGHT_HERE void scan_alone(I first, int64_t count, O out, F join, T running) {
  for (int64_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(first[i]);
    const T next = KIND == emulated::Scan::INCLUSIVE && i == 0 ? value : static_cast<T>(join(running, value));
    out[i] = KIND == emulated::Scan::EXCLUSIVE ? running : next;
    running = next;
  }
}
template <emulated::Scan KIND, class P, class I, class O, class F, class T>
WARPWRIGHT_HERE O scan(const P& policy, const emulated::Caller& caller, I first, I last, O out, F join, T start) {
  const int64_t count = last - first;
  if (by_caller(policy))
    scan_alone<KIND>(first, count, out, join, start);
  else
    emulated::launch_wide(
        caller, count > 0,
        [](I in, O to, int64_t places, F with, T begin) { emulated::scanned<KIND, T>(in, to, places, with, begin); },
        first, out, count, join, start);
  return out + count;
}
WARPWRIGHT_THRUST(class I, class O, class F)
O inclusive_scan(const P& policy, I first, I last, O out, F join, WARPWRIGHT_LINE) {
  return scan<emulated::Scan::INCLUSIVE>(policy, WARPWRIGHT_CALLER("inclusive_scan"), first, last, out, join,
                                         value_at<I>());
}
WARPWRIGHT_THRUST(class I, class O)
O inclusive_scan(const P& policy, I first, I last, O out, WARPWRIGHT_LINE) {
  return scan<emulated::Scan::INCLUSIVE>(policy, WARPWRIGHT_CALLER("inclusive_scan"), first, last, out, plus<>(),
                                         value_at<I>());
}
WARPWRIGHT_THRUST(class I, class O, class T, class F)
O exclusive_scan(const P& policy, I first, I last, O out, T start, F join, WARPWRIGHT_LINE) {
  return scan<emulated::Scan::EXCLUSIVE>(policy, WARPWRIGHT_CALLER("exclusive_scan"), first, last, out, join, start);
}
WARPWRIGHT_THRUST(class I, class O, class T)
O exclusive_scan(const P& policy, I first, I last, O out, T start, WARPWRIGHT_LINE) {
  return scan<emulated::Scan::EXCLUSIVE>(policy, WARPWRIGHT_CALLER("exclusive_scan"), first, last, out, plus<>(),
                                         start);
}

WARPWRIGHT_THRUST(class I, class G, class T, class F)
T transform_reduce(const P& policy, I first, I last, G change, T total, F join) {
  WARPWRIGHT_FOR_CALLER_ALONE("transform_reduce");
  for (; first != last; ++first) total = join(total, change(*first));
  return total;
}
WARPWRIGHT_THRUST(class I, class T, class F)
T reduce(const P& policy, I first, I last, T total, F join) {
  WARPWRIGHT_FOR_CALLER_ALONE("reduce");
  for (; first != last; ++first) total = join(total, *first);
  return total;
}
WARPWRIGHT_THRUST(class I, class T)
T reduce(const P& policy, I first, I last, T total) {
  return reduce(policy, first, last, total, plus<>());
}
WARPWRIGHT_THRUST(class I)
value_at<I> reduce(const P& policy, I first, I last) {
  return reduce(policy, first, last, value_at<I>(), plus<>());
}
WARPWRIGHT_THRUST(class I, class J, class T)
T inner_product(const P& policy, I first, I last, J other, T total) {
  WARPWRIGHT_FOR_CALLER_ALONE("inner_product");
  for (; first != last; ++first, ++other) total = total + *first * *other;
  return total;
}
WARPWRIGHT_THRUST(class I)
I max_element(const P& policy, I first, I last) {
  WARPWRIGHT_FOR_CALLER_ALONE("max_element");
  I found = first;
  for (; first != last; ++first)
    if (*found < *first) found = first;
  return found;
}
WARPWRIGHT_THRUST(class I)
I min_element(const P& policy, I first, I last) {
  WARPWRIGHT_FOR_CALLER_ALONE("min_element");
  I found = first;
  for (; first != last; ++first)
    if (*first < *found) found = first;
  return found;
}

#undef WARPWRIGHT_THRUST
#undef WARPWRIGHT_CALLER
#undef WARPWRIGHT_FOR_CALLER_ALONE

}  // namespace thrust

#endif
