// Asynchronous copies in C style; they arrive when the thread waits for them.
#ifndef WARPWRIGHT_CUDA_PIPELINE_PRIMITIVES_H
#define WARPWRIGHT_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zero_fill = 0) {
  warpwright::emulated::async_copy(shared, global, bytes, bytes - zero_fill);
}
inline void __pipeline_commit() { warpwright::emulated::async_commit(); }
inline void __pipeline_wait_prior(unsigned groups) { warpwright::emulated::async_wait(groups); }

#endif
