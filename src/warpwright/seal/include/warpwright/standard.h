// The standard headers that torch includes and that extensions therefore use without including them.
//
// In the device pass each costs compile time, so the slow ones can be omitted:
//   WARPWRIGHT_LEAN_STANDARD  when every std:: name of the text comes from the first group below
//   WARPWRIGHT_NO_HALF        when the text nowhere says half, bf16, bfloat, fp8 or float8, in any letter case
//   WARPWRIGHT_LEAN           both
// The choice never changes meaning: a wrong guess is a compile error, and everything is the default.
#ifndef WARPWRIGHT_STANDARD_H
#define WARPWRIGHT_STANDARD_H

#ifdef WARPWRIGHT_LEAN
#define WARPWRIGHT_LEAN_STANDARD
#define WARPWRIGHT_NO_HALF
#endif

#include <cuda_runtime.h>

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
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
#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#ifndef WARPWRIGHT_NO_HALF
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#ifndef WARPWRIGHT_LEAN_STANDARD
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
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
