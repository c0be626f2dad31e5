// Barriers, votes, matches, reductions and shuffles of device code.
#ifndef WARPWRIGHT_EMULATED_COLLECTIVES_H
#define WARPWRIGHT_EMULATED_COLLECTIVES_H

#include <cstring>
#include <type_traits>

#include "warpwright/emulated/machine.h"

#define WARPWRIGHT_LINE int line = __builtin_LINE()

inline void __syncthreads(WARPWRIGHT_LINE) { warpwright::emulated::barrier(line); }
inline int __syncthreads_count(int predicate, WARPWRIGHT_LINE) {
  return warpwright::emulated::barrier(line, warpwright::emulated::Vote::COUNT, predicate);
}
inline int __syncthreads_and(int predicate, WARPWRIGHT_LINE) {
  return warpwright::emulated::barrier(line, warpwright::emulated::Vote::ALL, predicate);
}
inline int __syncthreads_or(int predicate, WARPWRIGHT_LINE) {
  return warpwright::emulated::barrier(line, warpwright::emulated::Vote::ANY, predicate);
}
inline void __threadfence() { warpwright::emulated::fence(warpwright::emulated::Fence::DEVICE); }
inline void __threadfence_system() { warpwright::emulated::fence(warpwright::emulated::Fence::DEVICE); }
inline void __threadfence_block() { warpwright::emulated::fence(warpwright::emulated::Fence::BLOCK); }
inline void __nanosleep(unsigned) { warpwright::emulated::poll(); }
inline long long clock64() { return warpwright::emulated::ticks(); }
[[noreturn]] inline void __trap() { warpwright::emulated::trap("trap", "__trap()"); }
inline void __brkpt() {}

namespace warpwright::emulated {

// The input of a lane to a warp operation, and its result.
struct Ballot {
  unsigned long long value;
  unsigned result;
  int all;
};

inline void collect_ballot(Payloads& lanes, unsigned present, unsigned) {
  unsigned ballot = 0;
  for (int i = 0; i < 32; ++i)
    if (present >> i & 1 && static_cast<Ballot*>(lanes[i])->value) ballot |= 1u << i;
  for (int i = 0; i < 32; ++i)
    if (present >> i & 1) static_cast<Ballot*>(lanes[i])->result = ballot;
}
inline void collect_present(Payloads& lanes, unsigned present, unsigned) {
  for (int i = 0; i < 32; ++i)
    if (present >> i & 1) static_cast<Ballot*>(lanes[i])->result = present;
}
inline void collect_matches(Payloads& lanes, unsigned present, unsigned) {
  for (int i = 0; i < 32; ++i) {
    if (!(present >> i & 1)) continue;
    Ballot& mine = *static_cast<Ballot*>(lanes[i]);
    mine.result = 0;
    for (int j = 0; j < 32; ++j)
      if (present >> j & 1 && static_cast<Ballot*>(lanes[j])->value == mine.value) mine.result |= 1u << j;
    mine.all = mine.result == present;
  }
}

inline unsigned ballot(Kind kind, unsigned mask, unsigned long long value, Combine combine, int line,
                       int* all = nullptr) {
  Ballot payload{value, 0, 0};
  collective(kind, mask, combine, &payload, line);
  if (all) *all = payload.all;
  return payload.result;
}
template <class T>
unsigned long long bits_of(T value) {
  static_assert(sizeof(T) <= 8, "a warp compares and moves values of at most 8 bytes");
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

struct Shuffled {
  unsigned long long value, result;
  int source;  // lane to read from, or -1
};

inline void exchange(Payloads& lanes, unsigned present, unsigned) {
  for (int i = 0; i < 32; ++i) {
    if (!(present >> i & 1)) continue;
    Shuffled& mine = *static_cast<Shuffled*>(lanes[i]);
    if (present >> mine.source & 1) {
      mine.result = static_cast<Shuffled*>(lanes[mine.source])->value;
    } else {
      mine.result = 0x7fa5c3e17fa5c3e1ull;
      inactive_lane();
    }
  }
}

template <class T>
T shuffle(Kind kind, unsigned mask, T value, int source, int line) {
  if constexpr (sizeof(T) <= 8) {
    Shuffled payload{bits_of(value), 0, source};
    collective(kind, mask, exchange, &payload, line);
    std::memcpy(&value, &payload.result, sizeof(T));
  } else {
    static_assert(sizeof(T) % 8 == 0, "a wide value is shuffled in words of 8 bytes");
    unsigned long long words[sizeof(T) / 8];
    std::memcpy(words, &value, sizeof(T));
    for (auto& word : words) word = shuffle(kind, mask, word, source, line);
    std::memcpy(&value, words, sizeof(T));
  }
  return value;
}

// Lanes beyond the ends of a segment read themselves.
inline int shuffle_source(Kind kind, int operand, int width) {
  int mine = static_cast<int>(lane()), first = mine & ~(width - 1), last = first + width - 1;
  switch (kind) {
    case Kind::SHUFFLE:
      return first + (operand & (width - 1));
    case Kind::SHUFFLE_UP:
      return mine - operand >= first ? mine - operand : mine;
    case Kind::SHUFFLE_DOWN:
      return mine + operand <= last ? mine + operand : mine;
    default:
      return (mine ^ operand) <= last ? mine ^ operand : mine;
  }
}

template <class T>
struct Reduced {
  T value, result;
};
template <class T, class Join>
T reduce(unsigned mask, T value, int line, Join) {
  Reduced<T> payload{value, T()};
  collective(
      Kind::REDUCE, mask,
      [](Payloads& lanes, unsigned present, unsigned) {
        T total{};
        bool first = true;
        for (int i = 0; i < 32; ++i) {
          if (!(present >> i & 1)) continue;
          T next = static_cast<Reduced<T>*>(lanes[i])->value;
          total = first ? next : Join()(total, next);
          first = false;
        }
        for (int i = 0; i < 32; ++i)
          if (present >> i & 1) static_cast<Reduced<T>*>(lanes[i])->result = total;
      },
      &payload, line);
  return payload.result;
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Greatest {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct ExclusiveOr {
  template <class T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};

}  // namespace warpwright::emulated

inline void __syncwarp(unsigned mask = 0xffffffffu, WARPWRIGHT_LINE) {
  char payload;
  warpwright::emulated::collective(warpwright::emulated::Kind::SYNC, mask, nullptr, &payload, line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, WARPWRIGHT_LINE) {
  return warpwright::emulated::ballot(warpwright::emulated::Kind::VOTE, mask, predicate != 0,
                                      warpwright::emulated::collect_ballot, line);
}
inline int __any_sync(unsigned mask, int predicate, WARPWRIGHT_LINE) {
  return __ballot_sync(mask, predicate, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, WARPWRIGHT_LINE) {
  return __ballot_sync(mask, !predicate, line) == 0;
}
inline unsigned __activemask(WARPWRIGHT_LINE) {
  return warpwright::emulated::ballot(warpwright::emulated::Kind::ACTIVE, 0, 0, warpwright::emulated::collect_present,
                                      line);
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value, WARPWRIGHT_LINE) {
  return warpwright::emulated::ballot(warpwright::emulated::Kind::MATCH_ANY, mask, warpwright::emulated::bits_of(value),
                                      warpwright::emulated::collect_matches, line);
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all, WARPWRIGHT_LINE) {
  int same = 0;
  unsigned matches =
      warpwright::emulated::ballot(warpwright::emulated::Kind::MATCH_ALL, mask, warpwright::emulated::bits_of(value),
                                   warpwright::emulated::collect_matches, line, &same);
  *all = same;
  return same ? matches : 0;
}

#define WARPWRIGHT_SHUFFLE(NAME, KIND, OPERAND)                                                                  \
  template <class T>                                                                                             \
  T NAME(unsigned mask, T value, OPERAND operand, int width = 32, WARPWRIGHT_LINE) {                             \
    using namespace warpwright::emulated;                                                                        \
    return shuffle(Kind::KIND, mask, value, shuffle_source(Kind::KIND, static_cast<int>(operand), width), line); \
  }
WARPWRIGHT_SHUFFLE(__shfl_sync, SHUFFLE, int)
WARPWRIGHT_SHUFFLE(__shfl_up_sync, SHUFFLE_UP, unsigned)
WARPWRIGHT_SHUFFLE(__shfl_down_sync, SHUFFLE_DOWN, unsigned)
WARPWRIGHT_SHUFFLE(__shfl_xor_sync, SHUFFLE_XOR, int)
#undef WARPWRIGHT_SHUFFLE

#define WARPWRIGHT_REDUCE(NAME, JOIN)                                                     \
  template <class T>                                                                      \
  T NAME(unsigned mask, T value, WARPWRIGHT_LINE) {                                       \
    return warpwright::emulated::reduce(mask, value, line, warpwright::emulated::JOIN()); \
  }
WARPWRIGHT_REDUCE(__reduce_add_sync, Add)
WARPWRIGHT_REDUCE(__reduce_min_sync, Least)
WARPWRIGHT_REDUCE(__reduce_max_sync, Greatest)
WARPWRIGHT_REDUCE(__reduce_and_sync, And)
WARPWRIGHT_REDUCE(__reduce_or_sync, Or)
WARPWRIGHT_REDUCE(__reduce_xor_sync, ExclusiveOr)
#undef WARPWRIGHT_REDUCE

#endif
