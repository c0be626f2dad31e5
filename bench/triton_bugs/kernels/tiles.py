"""Kernels that work on tiles: products, attention, transposes, sums of columns."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    left = a + rm[:, None] * sa + rk[None, :]
    right = b + rk[:, None] * sb + rn[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(left, mask=(rm[:, None] < M) & (rk[None, :] < K - k), other=0.0)
        y = tl.load(right, mask=(rk[:, None] < K - k) & (rn[None, :] < N), other=0.0)
        total = tl.dot(x, y, total, out_dtype=tl.float32)
        left += BK
        right += BK * sb
    tl.store(c + rm[:, None] * sc + rn[None, :], total, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def matmul_split(a, b, c, M, N, K, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    part = tl.program_id(2)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(part * BK, K, SPLIT * BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        total += tl.dot(x, y, input_precision="ieee")
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], total, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def grouped_gemm(a, b, c, rows, starts, groups, N, K, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    tile = tl.program_id(0)
    before = 0
    for group in range(groups):
        m = tl.load(rows + group)
        start = tl.load(starts + group)
        across = tl.cdiv(N, BN)
        tiles = tl.cdiv(m, BM) * across
        while tile >= before and tile < before + tiles:
            local = tile - before
            rm = local // across * BM + tl.arange(0, BM)
            rn = local % across * BN + tl.arange(0, BN)
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, K, 16):
                rk = k + tl.arange(0, 16)
                at = (start + rm[:, None]) * K + rk[None, :]
                x = tl.load(a + at, mask=(rm[:, None] < m) & (rk[None, :] < K), other=0.0)
                at = (group * K + rk[:, None]) * N + rn[None, :]
                y = tl.load(b + at, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
                total = tl.dot(x, y, total, input_precision="ieee")
            at = (start + rm[:, None]) * N + rn[None, :]
            tl.store(c + at, total, mask=(rm[:, None] < m) & (rn[None, :] < N))
            tile += PROGRAMS
        before += tiles


@triton.jit
def attention(q, k, v, out, length, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    start = tl.program_id(0) * BM
    head = tl.program_id(1) * length * D
    rm = start + tl.arange(0, BM)
    rd = tl.arange(0, D)
    query = tl.load(q + head + rm[:, None] * D + rd[None, :], mask=rm[:, None] < length, other=0.0)
    highest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = length
    if CAUSAL:
        end = tl.minimum(start + BM, length)
    for n in range(0, end, BN):
        rn = n + tl.arange(0, BN)
        key = tl.load(k + head + rn[None, :] * D + rd[:, None], mask=rn[None, :] < length, other=0.0)
        score = tl.dot(query, key) * scale
        score = tl.where(rn[None, :] < length, score, -float("inf"))
        if CAUSAL:
            score = tl.where(rm[:, None] >= rn[None, :], score, -float("inf"))
        above = tl.maximum(highest, tl.max(score, 1))
        p = tl.exp(score - above[:, None])
        shrink = tl.exp(highest - above)
        total = total * shrink + tl.sum(p, 1)
        value = tl.load(v + head + rn[:, None] * D + rd[None, :], mask=rn[:, None] < length, other=0.0)
        acc = acc * shrink[:, None] + tl.dot(p.to(tl.float16), value)
        highest = above
    tl.store(out + head + rm[:, None] * D + rd[None, :], acc / total[:, None], mask=rm[:, None] < length)


@triton.jit
def transpose(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    tile = tl.load(x + rm[:, None] * N + rn[None, :], mask=(rm[:, None] < M) & (rn[None, :] < N))
    tl.store(out + rn[:, None] * M + rm[None, :], tl.trans(tile), mask=(rn[:, None] < N) & (rm[None, :] < M))


@triton.jit
def column_sums(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for m in range(0, M, BM):
        rm = m + tl.arange(0, BM)
        mask = (rm[:, None] < M) & (rn[None, :] < N)
        total += tl.load(x + rm[:, None] * N + rn[None, :], mask=mask, other=0.0)
    tl.store(out + rn, tl.sum(total, 0), mask=rn < N)
