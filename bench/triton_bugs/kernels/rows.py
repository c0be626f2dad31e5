"""Kernels that work on rows: softmax, norms, cross entropy, running sums."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < n
    values = tl.load(x + row * stride + i, mask=mask, other=-float("inf")).to(tl.float32)
    values = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * stride + i, values / tl.sum(values, 0), mask=mask)


@triton.jit
def layer_norm(x, weight, bias, out, mean, rstd, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
    centre = tl.sum(total, 0) / n
    square = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
        value = tl.where(i < n, value - centre, 0.0)
        square += value * value
    scale = tl.rsqrt(tl.sum(square, 0) / n + eps)
    tl.store(mean + row, centre)
    tl.store(rstd + row, scale)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        mask = i < n
        value = tl.load(x + row * n + i, mask=mask, other=0.0).to(tl.float32)
        value = (value - centre) * scale * tl.load(weight + i, mask=mask) + tl.load(bias + i, mask=mask)
        tl.store(out + row * n + i, value, mask=mask)


@triton.jit
def layer_norm_grad(grad, x, weight, mean, rstd, dx, dw, lock, seen, n, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < n
    g = tl.load(grad + row * n + i, mask=mask, other=0.0)
    normal = (tl.load(x + row * n + i, mask=mask, other=0.0) - tl.load(mean + row)) * tl.load(rstd + row)
    normal = tl.where(mask, normal, 0.0)
    scaled = tl.load(weight + i, mask=mask, other=0.0) * g
    first = tl.sum(normal * scaled, 0) / n
    second = tl.sum(scaled, 0) / n
    tl.store(dx + row * n + i, (scaled - normal * first - second) * tl.load(rstd + row), mask=mask)
    group = row % GROUPS
    while tl.atomic_cas(lock + group, 0, 1) == 1:
        pass
    part = g * normal
    if tl.load(seen + group) != 0:
        part += tl.load(dw + group * n + i, mask=mask, other=0.0)
    else:
        tl.store(seen + group, 1)
    tl.store(dw + group * n + i, part, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock + group, 0)


@triton.jit
def cross_entropy(logits, labels, loss, grad, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels + row)
    highest = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(logits + row * n + i, mask=i < n, other=-float("inf"))
        above = tl.maximum(highest, tl.max(value, 0))
        total = total * tl.exp(highest - above) + tl.sum(tl.exp(value - above), 0)
        highest = above
    tl.store(loss + row, tl.log(total) + highest - tl.load(logits + row * n + label))
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(logits + row * n + i, mask=i < n, other=-float("inf"))
        value = tl.exp(value - highest) / total
        value = tl.where(i == label, value - 1.0, value)
        tl.store(grad + row * n + i, value, mask=i < n)


@triton.jit
def running_sum(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    before = 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * n + i, mask=i < n, other=0.0)
        tl.store(out + row * n + i, tl.cumsum(value, 0) + before, mask=i < n)
        before += tl.sum(value, 0)


@triton.jit
def top_two(x, values, places, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    data = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    for k in range(2):
        place = tl.argmax(data, 0)
        tl.store(values + row * 2 + k, tl.max(data, 0))
        tl.store(places + row * 2 + k, place)
        data = tl.where(i == place, -float("inf"), data)
