// Launches: the host code queues a kernel with the bytes of its arguments, and the machine runs it later.
#ifndef WARPWRIGHT_EMULATED_LAUNCH_H
#define WARPWRIGHT_EMULATED_LAUNCH_H

#include <tuple>

#include "warpwright/emulated/machine.h"
#include "warpwright/record.h"

namespace warpwright {

namespace emulated {

// Called before a kernel with a declared cluster size is enqueued.
void in_clusters(dim3 size);
// Called before one of our kernels replaces a library's: its findings are reported at the host's line.
void called_at(int line);

using Body = void (*)(const void* closure);
void attach(const char* kernel, Body body, const void* closure, size_t bytes, size_t alignment);

template <class K, class... P>
struct Closure {
  K kernel;
  std::tuple<P...> arguments;
};

// Each thread has its own copy of the arguments, on its own stack, byte for byte as the GPU would have them.
// Inlined as a GPU's compiler would do it, and because the sanitizer's pass does not see a structure
// that a call returns straight into memory.
template <class C>
__attribute__((flatten)) void run(const void* closure) {
  alignas(C) unsigned char image[sizeof(C)];
  copy(image, closure, sizeof(C));
  C& mine = *reinterpret_cast<C*>(image);
  std::apply(mine.kernel, mine.arguments);
}

template <class T>
T argument(const T& value, size_t position) {
  // `auto` sheds the __restrict__ that T keeps, which no pointer to it may carry.
  auto copied = value;
  if (const void* packed = packed_argument(position)) copy(&copied, packed, sizeof(copied));
  return copied;
}

template <class T>
void record(const T& value, size_t position) {
  auto copied = value;
  const void* packed = packed_argument(position);
  add_argument(packed ? packed : &copied, sizeof(copied));
}

}  // namespace emulated

template <class K, class... P>
void enqueue(const void* code, const char* name, K kernel, const P&... parameters) {
  begin_launch();
  size_t position = 0, recorded = 0;
  using C = emulated::Closure<K, P...>;
  C closure{kernel, std::tuple<P...>{emulated::argument(parameters, position++)...}};
  (emulated::record(parameters, recorded++), ...);
  end_launch(code);
  emulated::attach(name, &emulated::run<C>, &closure, sizeof(C), alignof(C));
}

template <class T>
T& shared(const char* names) {
  static emulated::Slot slot;
  return *static_cast<T*>(emulated::place(&slot, sizeof(T), alignof(T), names));
}
inline void* dynamic_shared(size_t alignment) { return emulated::dynamic_place(alignment); }

}  // namespace warpwright

#endif
