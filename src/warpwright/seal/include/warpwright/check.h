// Errors and checks. What host code throws becomes the outcome of the capture.
#ifndef WARPWRIGHT_CHECK_H
#define WARPWRIGHT_CHECK_H

#include "warpwright/standard.h"

#define C10_UNLIKELY(...) (__builtin_expect(static_cast<bool>(__VA_ARGS__), 0))
#define C10_LIKELY(...) (__builtin_expect(static_cast<bool>(__VA_ARGS__), 1))
#define C10_UNUSED __attribute__((__unused__))
#define C10_NOINLINE __attribute__((noinline))
#define C10_ALWAYS_INLINE __attribute__((always_inline)) inline
#define C10_RESTRICT __restrict
#define C10_API
#define C10_CUDA_API
#define C10_EXPORT
#define TORCH_API
#define TORCH_CUDA_CU_API
#define TORCH_CUDA_CPP_API
#define C10_STRINGIZE_(X) #X
#define C10_STRINGIZE(X) C10_STRINGIZE_(X)
#define C10_CONCATENATE_(A, B) A##B
#define C10_CONCATENATE(A, B) C10_CONCATENATE_(A, B)
#define C10_ANONYMOUS_VARIABLE(PREFIX) C10_CONCATENATE(PREFIX, __COUNTER__)

namespace warpwright {

// What the host code asked for is beyond these headers, or cannot be known without the device.
[[noreturn]] void unsupported(const char* name);
[[noreturn]] void reads_device_data(const char* call);
[[noreturn]] void cuda_failed(const char* call, const char* message);

}  // namespace warpwright

#ifdef WARPWRIGHT_CAPTURE
namespace c10 {

class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const char* what_without_backtrace() const noexcept { return message_.c_str(); }
  const std::string& msg() const { return message_; }

 private:
  std::string message_;
};
class ValueError : public Error { using Error::Error; };
class TypeError : public Error { using Error::Error; };
class IndexError : public Error { using Error::Error; };
class NotImplementedError : public Error { using Error::Error; };

template <class... A>
std::string str(const A&... words) {
  std::ostringstream out;
  (void)(out << ... << words);
  return out.str();
}

namespace detail {
template <class E = Error, class... A>
[[noreturn]] void check_failed(const char* condition, const A&... words) {
  if constexpr (sizeof...(A) == 0)
    throw E(str("Expected ", condition, " to be true, but got false."));
  else
    throw E(str(words...));
}
template <class... A>
void warn(const A&... words) {
  std::cerr << str("Warning: ", words...) << '\n';
}
}  // namespace detail

}  // namespace c10
#else
// The device pass parses host code and throws it away: declarations are enough.
namespace c10 {

class Error {
 public:
  const char* what() const noexcept;
  const char* what_without_backtrace() const noexcept;
};
class ValueError : public Error {};
class TypeError : public Error {};
class IndexError : public Error {};
class NotImplementedError : public Error {};

#ifndef WARPWRIGHT_LEAN
template <class... A>
std::string str(const A&... words);
#endif

namespace detail {
template <class E = Error, class... A>
[[noreturn]] void check_failed(const char* condition, const A&... words);
template <class... A>
void warn(const A&... words);
}  // namespace detail

}  // namespace c10
#endif

namespace torch {
using c10::Error;
}

#define WARPWRIGHT_CHECK(ERROR, CONDITION, ...)                                             \
  do {                                                                                      \
    if (C10_UNLIKELY(!(CONDITION))) ::c10::detail::check_failed<ERROR>(#CONDITION, ##__VA_ARGS__); \
  } while (false)

#define TORCH_CHECK(CONDITION, ...) WARPWRIGHT_CHECK(::c10::Error, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(CONDITION, ...) WARPWRIGHT_CHECK(::c10::ValueError, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(CONDITION, ...) WARPWRIGHT_CHECK(::c10::TypeError, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(CONDITION, ...) WARPWRIGHT_CHECK(::c10::IndexError, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(CONDITION, ...) \
  WARPWRIGHT_CHECK(::c10::NotImplementedError, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_WITH(ERROR, CONDITION, ...) WARPWRIGHT_CHECK(::c10::ERROR, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_EQ(A, B) TORCH_CHECK((A) == (B), #A " must equal " #B)
#define TORCH_CHECK_NE(A, B) TORCH_CHECK((A) != (B), #A " must differ from " #B)
#define TORCH_CHECK_LT(A, B) TORCH_CHECK((A) < (B), #A " must be below " #B)
#define TORCH_CHECK_LE(A, B) TORCH_CHECK((A) <= (B), #A " must be at most " #B)
#define TORCH_CHECK_GT(A, B) TORCH_CHECK((A) > (B), #A " must be above " #B)
#define TORCH_CHECK_GE(A, B) TORCH_CHECK((A) >= (B), #A " must be at least " #B)
#define TORCH_INTERNAL_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) ((void)0)
#define TORCH_WARN(...) ::c10::detail::warn(__VA_ARGS__)
#define TORCH_WARN_ONCE(...) ::c10::detail::warn(__VA_ARGS__)
#define AT_WARN(...) ::c10::detail::warn(__VA_ARGS__)
#define AT_ERROR(...) ::c10::detail::check_failed<::c10::Error>("this point not to be reached", ##__VA_ARGS__)
#define AT_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERTM(...) TORCH_CHECK(__VA_ARGS__)
#define AT_CHECK(...) TORCH_CHECK(__VA_ARGS__)
#define C10_THROW_ERROR(ERROR, MESSAGE) ::c10::detail::check_failed<::c10::ERROR>("", MESSAGE)

// In kernels torch asserts with CUDA's own trap.
#ifdef __CUDA_ARCH__
#include <cassert>
#define CUDA_KERNEL_ASSERT(CONDITION) assert(CONDITION)
#else
#define CUDA_KERNEL_ASSERT(CONDITION) ((void)0)
#endif
#define CUDA_KERNEL_ASSERT_MSG(CONDITION, MESSAGE) CUDA_KERNEL_ASSERT(CONDITION)

#endif
