// CUDA's vector types, with the sizes and alignments that kernels see.
#ifndef WARPWRIGHT_VECTOR_TYPES_H
#define WARPWRIGHT_VECTOR_TYPES_H

#include "cuda_words.h"

// X(type, element, alignment of the vectors of 1, 2, 3 and 4 elements)
#define WARPWRIGHT_VECTORS(X)                                                                                     \
  X(char, signed char, 1, 2, 1, 4) X(uchar, unsigned char, 1, 2, 1, 4) X(short, short, 2, 4, 2, 8)                \
  X(ushort, unsigned short, 2, 4, 2, 8) X(int, int, 4, 8, 4, 16) X(uint, unsigned int, 4, 8, 4, 16)               \
  X(long, long, 8, 16, 8, 16) X(ulong, unsigned long, 8, 16, 8, 16) X(longlong, long long, 8, 16, 8, 16)          \
  X(ulonglong, unsigned long long, 8, 16, 8, 16) X(float, float, 4, 8, 4, 16) X(double, double, 8, 16, 8, 16)

#define WARPWRIGHT_VECTOR(NAME, T, A1, A2, A3, A4)                                                                \
  struct alignas(A1) NAME##1 { T x; };                                                                            \
  struct alignas(A2) NAME##2 { T x, y; };                                                                         \
  struct alignas(A3) NAME##3 { T x, y, z; };                                                                      \
  struct alignas(A4) NAME##4 { T x, y, z, w; };                                                                   \
  inline NAME##1 make_##NAME##1(T x) { return {x}; }                                                              \
  inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                                                      \
  inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                                              \
  inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
WARPWRIGHT_VECTORS(WARPWRIGHT_VECTOR)
#undef WARPWRIGHT_VECTOR
#undef WARPWRIGHT_VECTORS

// CUDA 13 spells the wide ones by alignment; the plain names keep 16.
typedef double4 double4_16a;
typedef longlong4 longlong4_16a;
typedef ulonglong4 ulonglong4_16a;
struct alignas(32) double4_32a { double x, y, z, w; };
struct alignas(32) longlong4_32a { long long x, y, z, w; };
struct alignas(32) ulonglong4_32a { unsigned long long x, y, z, w; };

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif
