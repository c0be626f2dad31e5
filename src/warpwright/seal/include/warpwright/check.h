// Errors and checks. Exceptions of host code become the outcome of the capture.
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

// Ends the capture: a feature that these headers lack, or a value that only the device knows.
[[noreturn]] void unsupported(const char* name);
[[noreturn]] void reads_device_data(const char* call);
[[noreturn]] void cuda_failed(const char* call, const char* message);

}  // namespace warpwright

namespace c10 {

// All definitions are out of line: headers without instantiations make the capture build fast.
class Error : public std::exception {
 public:
  explicit Error(const char* message);
  explicit Error(const std::basic_string<char>& message);
  Error(const Error& other);
  Error& operator=(const Error& other) = delete;
  ~Error() override;
  const char* what() const noexcept override { return message_; }
  const char* what_without_backtrace() const noexcept { return message_; }

 private:
  char* message_;
};
class ValueError : public Error {
  using Error::Error;
};
class TypeError : public Error {
  using Error::Error;
};
class IndexError : public Error {
  using Error::Error;
};
class NotImplementedError : public Error {
  using Error::Error;
};

namespace detail {

// One word of a message: a value and how to print it.
class Word {
 public:
  Word(const char* text);
  Word(const std::basic_string<char>& text);
  template <class T>
  Word(const T& value);
  void print(std::ostream& out) const { print_(out, value_); }

 private:
  const void* value_;
  void (*print_)(std::ostream&, const void*);
};
using Words = std::initializer_list<Word>;

#ifdef WARPWRIGHT_CAPTURE
template <class T>
Word::Word(const T& value)
    : value_(&value), print_([](std::ostream& out, const void* at) { out << *static_cast<const T*>(at); }) {}
#endif

enum class Failure { PLAIN, VALUE, TYPE, INDEX, NOT_IMPLEMENTED };
[[noreturn]] void check_failed(Failure kind, const char* condition, Words words);
void warn(Words words);
std::basic_string<char> joined(Words words);

}  // namespace detail

template <class... A>
std::basic_string<char> str(const A&... words) {
  return detail::joined({detail::Word(words)...});
}

}  // namespace c10

namespace torch {
using c10::Error;
}

#define WARPWRIGHT_CHECK(FAILURE, CONDITION, ...)                                              \
  do {                                                                                         \
    if (C10_UNLIKELY(!(CONDITION)))                                                            \
      ::c10::detail::check_failed(::c10::detail::Failure::FAILURE, #CONDITION, {__VA_ARGS__}); \
  } while (false)

#define TORCH_CHECK(CONDITION, ...) WARPWRIGHT_CHECK(PLAIN, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(CONDITION, ...) WARPWRIGHT_CHECK(VALUE, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(CONDITION, ...) WARPWRIGHT_CHECK(TYPE, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(CONDITION, ...) WARPWRIGHT_CHECK(INDEX, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(CONDITION, ...) WARPWRIGHT_CHECK(NOT_IMPLEMENTED, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_WITH(ERROR, CONDITION, ...) WARPWRIGHT_CHECK(PLAIN, CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_EQ(A, B) TORCH_CHECK((A) == (B), #A " must equal " #B)
#define TORCH_CHECK_NE(A, B) TORCH_CHECK((A) != (B), #A " must differ from " #B)
#define TORCH_CHECK_LT(A, B) TORCH_CHECK((A) < (B), #A " must be below " #B)
#define TORCH_CHECK_LE(A, B) TORCH_CHECK((A) <= (B), #A " must be at most " #B)
#define TORCH_CHECK_GT(A, B) TORCH_CHECK((A) > (B), #A " must be above " #B)
#define TORCH_CHECK_GE(A, B) TORCH_CHECK((A) >= (B), #A " must be at least " #B)
#define TORCH_INTERNAL_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) ((void)0)
#define TORCH_WARN(...) ::c10::detail::warn({__VA_ARGS__})
#define TORCH_WARN_ONCE(...) ::c10::detail::warn({__VA_ARGS__})
#define AT_WARN(...) ::c10::detail::warn({__VA_ARGS__})
#define AT_ERROR(...) \
  ::c10::detail::check_failed(::c10::detail::Failure::PLAIN, "this point not to be reached", {__VA_ARGS__})
#define AT_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERTM(...) TORCH_CHECK(__VA_ARGS__)
#define AT_CHECK(...) TORCH_CHECK(__VA_ARGS__)
#define C10_THROW_ERROR(ERROR, MESSAGE) throw ::c10::ERROR(MESSAGE)

// In kernels torch asserts with CUDA's own trap.
#ifdef __CUDA_ARCH__
#include <cassert>
#define CUDA_KERNEL_ASSERT(CONDITION) assert(CONDITION)
#else
#define CUDA_KERNEL_ASSERT(CONDITION) ((void)0)
#endif
#define CUDA_KERNEL_ASSERT_MSG(CONDITION, MESSAGE) CUDA_KERNEL_ASSERT(CONDITION)

#endif
