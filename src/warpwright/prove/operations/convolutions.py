"""Convolutions in any number of dimensions: windows of places, and then products of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from warpwright.prove import numbers
from warpwright.prove.operations.windows import each, padded, spread, windows
from warpwright.prove.tensor import LiftedTensor, implements, lifted, made

Tensor = torch.Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    stride: list[int]
    padding: list[int]
    dilation: list[int]
    groups: int
    output_padding: list[int]

    def windows(self, x: Tensor, kernel: Sequence[int]) -> Any:
        """Places with the shape (groups, batch, channels of a group, outputs..., kernel...)."""
        around = padded(x, self.padding, self.padding)
        return grouped(windows(around, kernel, self.stride, self.dilation), self.groups).transpose(0, 1)


def grouped(x: Tensor, groups: int) -> Any:
    """Splits the channels, which are the second dimension."""
    return x.unflatten(1, (groups, -1))


def correlated(x: Tensor, weight: Tensor, geometry: Geometry) -> Any:
    """The places of x * weight, where weight is (outputs, inputs of a group, kernel...)."""
    seen = geometry.windows(x, weight.shape[2:])
    dims, outputs = weight.dim() - 2, seen.shape[3 : 1 + weight.dim()]
    rows = seen.movedim(2, 2 + dims).flatten(1, 1 + dims).flatten(2)
    joined = numbers.product(rows, weight.unflatten(0, (geometry.groups, -1)).flatten(2))
    return joined.unflatten(1, (x.shape[0], *outputs)).movedim(0, -2).flatten(-2).movedim(-1, 1)


def transposed(x: Tensor, weight: Tensor, geometry: Geometry) -> Any:
    """The places of the transposed convolution, where weight is (inputs, outputs of a group, kernel...)."""
    flipped = (
        weight.flip(list(range(2, weight.dim()))).unflatten(0, (geometry.groups, -1)).transpose(1, 2).flatten(0, 1)
    )
    reach = [apart * (size - 1) for apart, size in zip(geometry.dilation, weight.shape[2:], strict=True)]
    before = [size - pad for size, pad in zip(reach, geometry.padding, strict=True)]
    after = [size + more for size, more in zip(before, geometry.output_padding, strict=True)]
    around = padded(spread(x, geometry.stride), before, after)
    ones, none = [1] * len(reach), [0] * len(reach)
    return correlated(around, flipped, replace(geometry, stride=ones, padding=none))


def weight_gradient(x: Tensor, grad: Tensor, kernel: Sequence[int], geometry: Geometry) -> Any:
    """The places of the gradient of a convolution's weight: (outputs, inputs of a group, kernel...)."""
    dims = len(kernel)
    shape = (*x.shape[2:],)
    reach = [(size - 1) * step + apart * (k - 1) + 1 for size, step, apart, k in _axes(grad, kernel, geometry)]
    cut = [want - have - 2 * pad for want, have, pad in zip(reach, shape, geometry.padding, strict=True)]
    around = padded(x, geometry.padding, [pad + more for pad, more in zip(geometry.padding, cut, strict=True)])
    seen = grouped(windows(around, kernel, geometry.stride, geometry.dilation), geometry.groups)
    outputs = grouped(grad, geometry.groups).transpose(0, 1).transpose(1, 2).flatten(2)
    joined = numbers.product(outputs, _summed_last(seen, dims))
    return joined.flatten(0, 1).unflatten(1, (-1, *kernel))


def _axes(grad: Tensor, kernel: Sequence[int], geometry: Geometry) -> Any:
    return zip(grad.shape[2:], geometry.stride, geometry.dilation, kernel, strict=True)


def _summed_last(seen: Tensor, dims: int) -> Tensor:
    """From (batch, groups, channels, outputs..., kernel...) to (groups, channels and kernel, batch and outputs)."""
    kernel = list(range(3 + dims, 3 + 2 * dims))
    order = [1, 2, *kernel, 0, *range(3, 3 + dims)]
    arranged = seen.permute(order)
    return arranged.flatten(2 + dims).flatten(1, 1 + dims)


@implements("convolution", "_convolution")
def convolution(func: Any, x: Tensor, weight: Tensor, bias: Any, *settings: Any) -> LiftedTensor:
    is_transposed, geometry = _geometry(weight.dim() - 2, *settings[:6])
    convolve = transposed if is_transposed else correlated
    found = made(convolve(lifted(x), lifted(weight), geometry), x, weight)
    return found if bias is None else found + bias.reshape(-1, *[1] * (weight.dim() - 2))


def _geometry(
    dims: int, stride: Any, padding: Any, dilation: Any, is_transposed: bool, output_padding: Any, groups: int
) -> tuple[bool, Geometry]:
    return is_transposed, Geometry(
        stride=each(stride, dims),
        padding=each(padding, dims),
        dilation=each(dilation, dims),
        output_padding=each(output_padding, dims),
        groups=groups,
    )


@implements("convolution_backward")
def convolution_backward(func: Any, grad: Tensor, x: Tensor, weight: Tensor, bias_sizes: Any, *settings: Any) -> Any:
    *shape, wanted = settings
    is_transposed, geometry = _geometry(weight.dim() - 2, *shape)
    derive = _of_transposed if is_transposed else _of_convolution
    found_x, found_weight = derive(lifted(grad), lifted(x), lifted(weight), geometry)
    sums = [0, *range(2, grad.dim())]
    return (
        made(found_x, grad) if wanted[0] else None,
        made(found_weight, grad) if wanted[1] else None,
        grad.sum(sums) if wanted[2] else None,
    )


def _of_convolution(grad: Tensor, x: Tensor, weight: Tensor, geometry: Geometry) -> tuple[Tensor, Tensor]:
    reached = [
        (size - 1) * step - 2 * pad + apart * (k - 1) + 1
        for (size, step, apart, k), pad in zip(_axes(grad, weight.shape[2:], geometry), geometry.padding, strict=True)
    ]
    rest = [have - size for have, size in zip(x.shape[2:], reached, strict=True)]
    back = transposed(grad, weight, replace(geometry, output_padding=rest))
    return back, weight_gradient(x, grad, weight.shape[2:], geometry)


def _of_transposed(grad: Tensor, x: Tensor, weight: Tensor, geometry: Geometry) -> tuple[Tensor, Tensor]:
    """The roles change: the gradient is what windows slide over, and x what comes of it."""
    inside = [slice(None), slice(None), *(slice(size) for size in x.shape[2:])]
    back = correlated(grad, weight, geometry)[tuple(inside)]
    return back, weight_gradient(grad, x, weight.shape[2:], geometry)


@implements("im2col")
def im2col(func: Any, x: Tensor, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    return made(_columns(padded(lifted(x), padding, padding), kernel, dilation, stride), x)


def _columns(around: Tensor, kernel: Any, dilation: Any, stride: Any) -> Tensor:
    """Windows as columns: (..., channels and kernel, windows)."""
    seen = windows(around, kernel, stride, dilation)
    channels = around.dim() - 3
    return seen.movedim((-2, -1), (channels + 1, channels + 2)).flatten(-2).flatten(channels, channels + 2)


@implements("col2im")
def col2im(func: Any, x: Tensor, size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    """Adds up what windows hold of each element."""
    shape = [
        *x.shape[:-2],
        x.shape[-2] // math.prod(kernel),
        *(extent + 2 * pad for extent, pad in zip(size, padding, strict=True)),
    ]
    where = _columns(torch.arange(math.prod(shape)).reshape(shape), kernel, dilation, stride)
    empty = torch.zeros(shape, dtype=torch.int64)
    summed = numbers.joined_at(numbers.Binary.ADD, empty, where, lifted(x))
    return made(padded(summed, *[[-pad for pad in padding]] * 2), x)
