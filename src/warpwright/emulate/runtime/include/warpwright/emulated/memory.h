// Loads and stores with cache hints, address spaces and moves between them. A hint changes nothing here.
#ifndef WARPWRIGHT_EMULATED_MEMORY_H
#define WARPWRIGHT_EMULATED_MEMORY_H

#include "warpwright/emulated/machine.h"

#define WARPWRIGHT_LOAD(NAME)       \
  template <class T>                \
  inline T NAME(const T* address) { \
    return *address;                \
  }
WARPWRIGHT_LOAD(__ldg)
WARPWRIGHT_LOAD(__ldca)
WARPWRIGHT_LOAD(__ldcg)
WARPWRIGHT_LOAD(__ldcs)
WARPWRIGHT_LOAD(__ldlu)
WARPWRIGHT_LOAD(__ldcv)
#undef WARPWRIGHT_LOAD

#define WARPWRIGHT_STORE(NAME)            \
  template <class T, class U>             \
  inline void NAME(T* address, U value) { \
    *address = static_cast<T>(value);     \
  }
WARPWRIGHT_STORE(__stwb)
WARPWRIGHT_STORE(__stcg)
WARPWRIGHT_STORE(__stcs)
WARPWRIGHT_STORE(__stwt)
#undef WARPWRIGHT_STORE

inline size_t __cvta_generic_to_shared(const void* pointer) { return warpwright::emulated::shared_address(pointer); }
inline void* __cvta_shared_to_generic(size_t address) {
  return warpwright::emulated::shared_pointer(static_cast<unsigned>(address));
}
inline size_t __cvta_generic_to_global(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
inline void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
inline unsigned __isShared(const void* pointer) { return warpwright::emulated::shared_address(pointer) != 0; }
inline unsigned __isGlobal(const void* pointer) { return !__isShared(pointer); }
inline void __prefetch_global_l1(const void*) {}
inline void __prefetch_global_l2(const void*) {}

#endif
