"""Kernels that work on points: rotary embedding, dropout, histograms, strided copies, descriptors."""

import triton
import triton.language as tl


@triton.jit
def rope(x, cos, sin, out, heads, half, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1)
    i = tl.arange(0, BLOCK)
    mask = i < half
    base = (token * heads + head) * half * 2
    first = tl.load(x + base + i, mask=mask)
    second = tl.load(x + base + half + i, mask=mask)
    c = tl.load(cos + token * half + i, mask=mask)
    s = tl.load(sin + token * half + i, mask=mask)
    tl.store(out + base + i, first * c - second * s, mask=mask)
    tl.store(out + base + half + i, second * c + first * s, mask=mask)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=mask, other=0.0) / (1 - p), 0.0), mask=mask)


@triton.jit
def histogram(x, out, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=-1)
    tl.atomic_add(out + value, 1, mask=(value >= 0) & (value < BINS))


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))


@triton.jit
def strided_copy(x, out, rows, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    tl.store(out + row * columns + i, tl.load(x + row * stride + i, mask=mask), mask=mask)


@triton.jit
def swap_pairs(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = 2 * i + 1 < n
    first = tl.load(x + 2 * i, mask=mask)
    second = tl.load(x + 2 * i + 1, mask=mask)
    tl.store(x + 2 * i, second, mask=mask)
    tl.store(x + 2 * i + 1, first, mask=mask)


@triton.jit
def scaled_tiles(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    target = tl.make_tensor_descriptor(out, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    at = tl.program_id(0) * BM
    for n in range(0, N, BN):
        target.store([at, n], source.load([at, n]) * 2.0)
