"""Maximum and average pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from warpwright.prove import numbers
from warpwright.prove.numbers import Binary
from warpwright.prove.operations.windows import each, padded, windows
from warpwright.prove.tensor import implements, lifted, made, values_of

Tensor = torch.Tensor


@implements("max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool3d")
def max_pool(func: Any, x: Tensor, *args: Any) -> tuple[Tensor, Tensor]:
    """The doubles tell which element of a window is the largest."""
    found = func(values_of(x), *args)[1]
    dims = 3 if "3d" in func.overloadpacket.__name__ else 2
    flat = lifted(x).flatten(-dims)
    return made(flat.gather(-1, found.flatten(-dims)).reshape(found.shape), x), found


@implements(
    "max_pool2d_with_indices_backward",
    "max_pool3d_with_indices_backward",
    "adaptive_max_pool2d_backward",
    "adaptive_max_pool3d_backward",
)
def max_pool_backward(func: Any, grad: Tensor, x: Tensor, *args: Any, **given: Any) -> Tensor:
    indices = given.get("indices", args[-1] if args else None)
    assert indices is not None
    dims = 3 if "3d" in func.overloadpacket.__name__ else 2
    planes = torch.zeros_like(x).flatten(-dims)
    return planes.scatter_add(-1, indices.flatten(-dims), grad.flatten(-dims)).reshape(x.shape)


@implements("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(
    func: Any,
    x: Tensor,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    dims = int(func.overloadpacket.__name__[len("avg_pool")])
    kernel, pad = each(kernel_size, dims), each(padding, dims)
    step = each(stride, dims) if stride else kernel
    axes = list(zip(x.shape[-dims:], kernel, step, pad, strict=True))
    outputs = [_outputs(*axis, ceil_mode) for axis in axes]
    after = [(n - 1) * s + k - size - p for n, (size, k, s, p) in zip(outputs, axes, strict=True)]
    seen = windows(padded(lifted(x), pad, after), kernel, step, [1] * dims)
    summed = made(numbers.reduced(Binary.ADD, seen, range(x.dim(), x.dim() + dims), keep=False), x)
    if divisor_override:
        return summed / divisor_override
    return summed / _counts(axes, outputs, count_include_pad)


def _outputs(size: int, kernel: int, stride: int, pad: int, ceil_mode: bool) -> int:
    """The number of windows; the last must begin inside the input or its padding on the left."""
    free = size + 2 * pad - kernel
    count = (-(-free // stride) if ceil_mode else free // stride) + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + pad else count


def _counts(axes: Sequence[tuple[int, int, int, int]], outputs: Sequence[int], with_padding: bool) -> Tensor:
    """The number of elements that each window averages."""
    found = torch.ones((), dtype=torch.int64)
    for (size, kernel, stride, pad), count in zip(axes, outputs, strict=True):
        first = torch.arange(count) * stride - pad
        last = (first + kernel).clamp(max=size + pad)
        inside = last - first if with_padding else last.clamp(max=size) - first.clamp(min=0)
        found = found.unsqueeze(-1) * inside
    return found


@implements("avg_pool2d_backward", "avg_pool3d_backward")
def avg_pool_backward(func: Any, grad: Tensor, x: Tensor, *settings: Any) -> Tensor:
    """Each element gets its share from all windows that it is in."""
    kernel_size, stride, padding, _, with_padding, divisor = settings
    dims = 2 if "2d" in func.overloadpacket.__name__ else 3
    kernel, pad = each(kernel_size, dims), each(padding, dims)
    step = each(stride, dims) if stride else kernel
    axes = list(zip(x.shape[-dims:], kernel, step, pad, strict=True))
    outputs = list(grad.shape[-dims:])
    after = [(n - 1) * s + k - size - p for n, (size, k, s, p) in zip(outputs, axes, strict=True)]
    shape = [*x.shape[:-dims], *(size + p + more for (size, _, _, p), more in zip(axes, after, strict=True))]
    where = windows(torch.arange(math.prod(shape)).reshape(shape), kernel, step, [1] * dims)
    share = grad / (divisor or _counts(axes, outputs, with_padding))
    empty = torch.zeros(shape, dtype=torch.int64)
    summed = numbers.joined_at(Binary.ADD, empty, where, lifted(share)[(..., *[None] * dims)])
    return made(padded(summed, [-p for p in pad], [-more for more in after]), grad)


@implements(
    "adaptive_avg_pool1d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"
)
def adaptive_avg_pool(func: Any, x: Tensor, output_size: Any) -> Tensor:
    """Averages dimension after dimension."""
    first = x.dim() - len(output_size)
    for number, count in enumerate(output_size):
        size = x.shape[first + number]
        ends = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
        means = [x.narrow(first + number, low, high - low).mean(first + number, keepdim=True) for low, high in ends]
        x = torch.cat(means, first + number)
    return x


@implements("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def adaptive_avg_pool_backward(func: Any, grad: Tensor, x: Tensor) -> Tensor:
    dims = 2 if "2d" in func.overloadpacket.__name__ else 3
    for dim in range(x.dim() - dims, x.dim()):
        grad = _spread_back(grad, dim, x.shape[dim])
    return grad


def _spread_back(grad: Tensor, dim: int, size: int) -> Tensor:
    shape = [*grad.shape]
    count, shape[dim] = shape[dim], size
    found = grad.new_zeros(shape)
    for i in range(count):
        low, high = i * size // count, -(-(i + 1) * size // count)
        found.narrow(dim, low, high - low).add_(grad.narrow(dim, i, 1) / (high - low))
    return found
