// The toolkit's header for host stubs, in which structs passed to kernels leave without what happened to lie between
// their members: those bytes are no arguments, and they would differ from call to call.
#include_next "crt/host_runtime.h"

// The toolkit's has two halves, and the second time it is included brings the second one, with the words of the stubs.
#ifdef __cudaSetupArg

template <class T, bool IS_PLAIN = __is_trivially_copyable(T) && __is_class(T)>
struct WarpwrightArgument {
  static void* of(T& value) { return (void*)__cudaAddressOf(value); }
};

template <class T>
struct WarpwrightArgument<T, true> {
  static void* of(T& value) {
    T* plain = (T*)(void*)__cudaAddressOf(value);
    __builtin_clear_padding(plain);
    return plain;
  }
};

template <class T>
void* warpwright_argument(const T& value) {
  return WarpwrightArgument<T>::of(const_cast<T&>(value));
}

#undef __cudaSetupArg
#define __cudaSetupArg(arg, offset) __args_arr[__args_idx] = warpwright_argument(arg); ++__args_idx

#endif
