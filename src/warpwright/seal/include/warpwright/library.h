// TORCH_LIBRARY and related macros: entry points registered with a schema.
#ifndef WARPWRIGHT_LIBRARY_H
#define WARPWRIGHT_LIBRARY_H

#include "warpwright/value.h"

namespace c10 {
enum class DispatchKey {
  CPU,
  CUDA,
  Meta,
  Autograd,
  AutogradCUDA,
  CompositeImplicitAutograd,
  CompositeExplicitAutograd
};
}

namespace torch {

class CppFunction {
 public:
  template <class F>
  CppFunction(F function);
  CppFunction& on(bool device) { return on_device_ = device, *this; }
  bool on_device() const { return on_device_; }
  const warpwright::Callable& callable() const { return callable_; }

 private:
  warpwright::Callable callable_;
  bool on_device_ = true;
};

inline bool runs_here(c10::DispatchKey key) { return key != c10::DispatchKey::CPU && key != c10::DispatchKey::Meta; }
inline bool runs_here(c10::DeviceType type) { return type == c10::DeviceType::CUDA; }

template <class Key, class F>
CppFunction dispatch(Key key, F function) {
  return CppFunction(function).on(runs_here(key));
}

class Library {
 public:
  Library(const char* name, const char* key);
  Library& def(const char* schema);
  Library& def(const char* schema, CppFunction function);
  Library& impl(const char* name, CppFunction function);
  template <class Key, class F>
  Library& impl(const char* name, Key key, F function) {
    return impl(name, dispatch(key, function));
  }
  void set_python_module(const char*) {}

 private:
  const char* name_;
  const char* key_;
};

}  // namespace torch

namespace warpwright {
struct LibraryBinding {
  LibraryBinding(void (*bind)(torch::Library&), const char* name, const char* key);
};
}  // namespace warpwright

#define TORCH_FN(FUNCTION) (&FUNCTION)
#define TORCH_SELECTIVE_NAME(NAME) NAME
#define TORCH_SELECTIVE_SCHEMA(SCHEMA) SCHEMA
#define WARPWRIGHT_LIBRARY(FUNCTION, NAME, KEY, VARIABLE)                                                       \
  static void FUNCTION(torch::Library&);                                                                        \
  static ::warpwright::LibraryBinding C10_CONCATENATE(FUNCTION, _binding)(&FUNCTION, C10_STRINGIZE(NAME), KEY); \
  static void FUNCTION([[maybe_unused]] torch::Library& VARIABLE)
#define TORCH_LIBRARY(NAME, VARIABLE) \
  WARPWRIGHT_LIBRARY(C10_CONCATENATE(warpwright_library_, __LINE__), NAME, "", VARIABLE)
#define TORCH_LIBRARY_FRAGMENT(NAME, VARIABLE) \
  WARPWRIGHT_LIBRARY(C10_CONCATENATE(warpwright_fragment_, __LINE__), NAME, "", VARIABLE)
#define TORCH_LIBRARY_IMPL(NAME, KEY, VARIABLE) \
  WARPWRIGHT_LIBRARY(C10_CONCATENATE(warpwright_impl_, __LINE__), NAME, #KEY, VARIABLE)

#ifdef WARPWRIGHT_CAPTURE
#include "warpwright/convert.h"

template <class F>
torch::CppFunction::CppFunction(F function) : callable_(warpwright::make_callable(function)) {}
#endif

#endif
