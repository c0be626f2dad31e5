// The standard headers that torch brings along and that extensions therefore use without asking.
//
// In the device pass each costs compile time. WARPWRIGHT_LEAN leaves out the dear ones; it may be defined when every
// std:: name of the source text comes from the headers of the first group below, and when the text nowhere contains
// `half`, `Half`, `bf16`, `bfloat`, `BFloat`, `fp8` or `Float8` in any letter case. The choice never changes meaning:
// a wrong guess is a compile error, and the full set is the default.
#ifndef WARPWRIGHT_STANDARD_H
#define WARPWRIGHT_STANDARD_H

#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#ifndef WARPWRIGHT_LEAN
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <array>
#include <atomic>
#include <cassert>
#include <climits>
#include <deque>
#include <functional>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <ostream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#endif

#endif
