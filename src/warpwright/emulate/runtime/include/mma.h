// wmma: matrices spread over the lanes of a warp. Which lane holds which element is our own choice, as it is the
// hardware's: lane l holds the elements whose number is l modulo 32.
#ifndef WARPWRIGHT_MMA_H
#define WARPWRIGHT_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda::wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

namespace emulated = warpwright::emulated;

template <class T>
struct Storage {
  using type = T;
};
template <>
struct Storage<precision::tf32> {
  using type = float;
};

inline float __float_to_tf32(float value) {
#ifdef WARPWRIGHT_LIFTED
  return value;
#endif
  unsigned bits = __float_as_uint(value);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits += 0x1000u;
  return __uint_as_float(bits & ~0x1fffu);
}

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static constexpr int ROWS = std::is_same<Use, matrix_b>::value ? K : M;
  static constexpr int COLUMNS = std::is_same<Use, matrix_a>::value ? K : N;
  static constexpr int num_elements = ROWS * COLUMNS / 32;
  static constexpr int num_storage_elements = num_elements;
  using element_type = T;
  typename Storage<T>::type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class L, class V>
void fill_fragment(fragment<Use, M, N, K, T, L>& f, V value) {
  for (auto& element : f.x) element = value;
}

template <class F, class P, class Visit>
void warpwright_each(F&, P* memory, unsigned stride, bool by_row, Visit visit) {
  for (int i = 0; i < F::num_elements; ++i) {
    const unsigned number = static_cast<unsigned>(i) * 32u + emulated::lane();
    const unsigned row = number / F::COLUMNS, column = number % F::COLUMNS;
    visit(i, memory + (by_row ? row * stride + column : column * stride + row));
  }
}
template <class Use, int M, int N, int K, class T, class L, class P>
void load_matrix_sync(fragment<Use, M, N, K, T, L>& f, const P* memory, unsigned stride, WARPWRIGHT_LINE) {
  __syncwarp(0xffffffffu, line);
  warpwright_each(f, memory, stride, std::is_same<L, row_major>::value, [&](int i, const P* at) { f.x[i] = *at; });
}
template <int M, int N, int K, class T, class P>
void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const P* memory, unsigned stride, layout_t layout,
                      WARPWRIGHT_LINE) {
  __syncwarp(0xffffffffu, line);
  warpwright_each(f, memory, stride, layout == mem_row_major, [&](int i, const P* at) { f.x[i] = *at; });
}
template <int M, int N, int K, class T, class P>
void store_matrix_sync(P* memory, const fragment<accumulator, M, N, K, T>& f, unsigned stride, layout_t layout,
                       WARPWRIGHT_LINE) {
  warpwright_each(f, memory, stride, layout == mem_row_major, [&](int i, P* at) { *at = f.x[i]; });
  __syncwarp(0xffffffffu, line);
}

template <class D, class A, class B, class C>
struct Product {
  D* d;
  const A* a;
  const B* b;
  const C* c;
};

template <int M, int N, int K, class TD, class TA, class LA, class TB, class LB, class TC>
void mma_sync(fragment<accumulator, M, N, K, TD>& d, const fragment<matrix_a, M, N, K, TA, LA>& a,
              const fragment<matrix_b, M, N, K, TB, LB>& b, const fragment<accumulator, M, N, K, TC>& c,
              WARPWRIGHT_LINE) {
  using P = Product<std::remove_reference_t<decltype(d)>, std::remove_reference_t<decltype(a)>,
                    std::remove_reference_t<decltype(b)>, std::remove_reference_t<decltype(c)>>;
  P payload{&d, &a, &b, &c};
  emulated::collective(
      emulated::Kind::MATRIX, 0xffffffffu,
      [](emulated::Payloads& lanes, unsigned present, unsigned) {
        if (present != 0xffffffffu) return;
        auto lane = [&](int number) -> P& { return *static_cast<P*>(lanes[number % 32]); };
        using Sum = std::conditional_t<std::is_integral<TC>::value, int, float>;
        Sum left[M * K], right[K * N], sums[M * N];
        for (int i = 0; i < M * K; ++i) left[i] = lane(i).a->x[i / 32];
        for (int i = 0; i < K * N; ++i) right[i] = lane(i).b->x[i / 32];
        for (int i = 0; i < M * N; ++i) {
          Sum sum = lane(i).c->x[i / 32];
          for (int k = 0; k < K; ++k) sum += left[i / N * K + k] * right[k * N + i % N];
          sums[i] = sum;
        }
        for (int i = 0; i < M * N; ++i) lane(i).d->x[i / 32] = sums[i];
        emulated::count_flops(2ull * M * N * K);
      },
      &payload, line);
}

}  // namespace nvcuda::wmma

#endif
