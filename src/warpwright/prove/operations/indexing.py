"""Scatters, and everything else that puts several elements into one."""

from __future__ import annotations

from typing import Any

import torch

from warpwright.prove import numbers
from warpwright.prove.numbers import Binary
from warpwright.prove.tensor import LiftedTensor, implements, lifted, made, unsupported

Tensor = torch.Tensor
_JOINS = {
    "sum": Binary.ADD,
    "add": Binary.ADD,
    "prod": Binary.MULTIPLY,
    "multiply": Binary.MULTIPLY,
    "amax": Binary.LARGER,
    "amin": Binary.SMALLER,
}


def positions_in(x: Tensor) -> Tensor:
    """The position of each element in the flat tensor."""
    return torch.arange(x.numel()).reshape(x.shape)


def scattered_positions(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The position in the flat tensor that each element of a scatter goes to."""
    if not x.dim():
        return torch.zeros_like(index)
    coordinates = [
        torch.arange(index.shape[axis]).reshape([-1 if axis == other else 1 for other in range(index.dim())])
        for axis in range(index.dim())
    ]
    coordinates[dim] = index
    return flat(coordinates, x.shape)


def flat(coordinates: Any, shape: Any) -> Tensor:
    found = torch.zeros((), dtype=torch.int64)
    for coordinate, size in zip(coordinates, shape, strict=True):
        found = found * size + coordinate
    return found


def joined(operation: Binary, x: Any, positions: Tensor, added: Any) -> LiftedTensor:
    return made(numbers.joined_at(operation, lifted(x), positions, lifted(added)), x)


@implements("scatter")
def scatter(
    func: Any, x: Tensor, dim: int, index: Tensor, src: Any = None, value: Any = None, reduce: Any = None
) -> Tensor:
    source = value if src is None else src
    if reduce is not None:
        return _scatter_reduced(_JOINS[reduce], x, dim, index, source)
    places = lifted(source)
    put = places if places.dim() else places.expand(index.shape)
    return made(lifted(x).scatter(dim, index, put), x)


@implements("scatter_add")
def scatter_add(func: Any, x: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    return _scatter_reduced(Binary.ADD, x, dim, index, src)


@implements("scatter_reduce")
def scatter_reduce(
    func: Any, x: Tensor, dim: int, index: Tensor, src: Any, reduce: str, include_self: bool = True
) -> Tensor:
    if reduce not in _JOINS or not include_self:
        raise unsupported(f"scatter_reduce with {reduce} and include_self={include_self}")
    return _scatter_reduced(_JOINS[reduce], x, dim, index, src)


def _scatter_reduced(operation: Binary, x: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    source = lifted(src)
    given = source[tuple(slice(size) for size in index.shape)] if source.dim() else source
    return joined(operation, x, scattered_positions(x, dim, index), LiftedTensor(given))


@implements("index_add")
def index_add(func: Any, x: Tensor, dim: int, index: Tensor, source: Any, alpha: Any = 1) -> Tensor:
    return joined(Binary.ADD, x, positions_in(x).index_select(dim, index), source * alpha)


@implements("index_fill")
def index_fill(func: Any, x: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    return made(lifted(x).index_fill(dim, index, int(lifted(value))), x)


@implements("index_put", "_unsafe_index_put", "_index_put_impl")
def index_put(
    func: Any, x: Tensor, indices: Any, values: Any, accumulate: bool = False, unsafe: bool = False
) -> Tensor:
    if accumulate:
        return joined(Binary.ADD, x, torch.ops.aten.index(positions_in(x), list(indices)), values)
    return made(torch.ops.aten.index_put(lifted(x), list(indices), lifted(values)), x)


@implements("put")
def put(func: Any, x: Tensor, index: Tensor, source: Any, accumulate: bool = False) -> Tensor:
    if accumulate:
        return joined(Binary.ADD, x, index, source)
    return made(lifted(x).put(index, lifted(source)), x)


@implements("embedding")
def embedding(func: Any, weight: Tensor, indices: Tensor, *args: Any, **given: Any) -> Tensor:
    return made(lifted(weight)[indices], weight)


@implements("embedding_dense_backward")
def embedding_backward(
    func: Any, grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    if scale_grad_by_freq:
        raise unsupported("embedding with scale_grad_by_freq")
    wide = grad.shape[-1]
    flat_grad, rows = grad.reshape(-1, wide), indices.reshape(-1, 1)
    kept = rows[:, 0] != padding_idx
    positions = (rows * wide + torch.arange(wide))[kept]
    return joined(Binary.ADD, grad.new_zeros(num_weights, wide), positions, flat_grad[kept])


@implements("slice_backward")
def slice_backward(func: Any, grad: Tensor, sizes: Any, dim: int, start: int, end: int, step: int) -> Tensor:
    return torch.slice_scatter(grad.new_zeros(sizes), grad, dim, start, end, step)


@implements("select_backward")
def select_backward(func: Any, grad: Tensor, sizes: Any, dim: int, index: int) -> Tensor:
    return torch.select_scatter(grad.new_zeros(sizes), grad, dim, index)


@implements("unfold_backward")
def unfold_backward(func: Any, grad: Tensor, sizes: Any, dim: int, size: int, step: int) -> Tensor:
    made = grad.new_zeros(sizes)
    return joined(Binary.ADD, made, positions_in(made).unfold(dim, size, step), grad)
