// wmma by name, for signatures; fragments exist on the device only.
#ifndef WARPWRIGHT_MMA_H
#define WARPWRIGHT_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda::wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static constexpr int num_elements = 8;
  T x[num_elements];
};

}  // namespace nvcuda::wmma

#endif
