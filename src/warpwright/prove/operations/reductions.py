"""Sums, means, extrema, products, variances and norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from warpwright.prove import numbers
from warpwright.prove.numbers import Binary
from warpwright.prove.tensor import LiftedTensor, implements, lifted, made, promoted, unsupported, values_of

Tensor = torch.Tensor
Dims = int | Sequence[int] | None


def dims_of(x: Tensor, dim: Dims) -> list[int]:
    """The dimensions to reduce: all of them if none are named."""
    if dim is None or (isinstance(dim, Sequence) and not dim):
        return list(range(x.dim()))
    named = [dim] if isinstance(dim, int) else dim
    return [item % x.dim() for item in named] if x.dim() else []


def count(x: Tensor, dims: Sequence[int]) -> int:
    return math.prod(x.shape[dim] for dim in dims)


def _reduced(operation: Binary, x: Any, dim: Dims, keepdim: bool, dtype: torch.dtype | None = None) -> LiftedTensor:
    joined = numbers.reduced(operation, lifted(x), dims_of(x, dim), keep=keepdim)
    return LiftedTensor(joined, dtype or promoted([x]))


@implements("sum")
def total(func: Any, x: Tensor, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    return _reduced(Binary.ADD, x, dim, keepdim, dtype)


@implements("nansum")
def nansum(func: Any, x: Tensor, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    return _reduced(Binary.ADD, torch.where(x.isnan(), 0.0, x), dim, keepdim, dtype)


@implements("mean")
def mean(func: Any, x: Tensor, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    return _reduced(Binary.ADD, x, dim, keepdim, dtype) / count(x, dims_of(x, dim))


@implements("prod")
def prod(func: Any, x: Tensor, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    return _reduced(Binary.MULTIPLY, x, dim, keepdim, dtype)


@implements("amax")
def amax(func: Any, x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    return _reduced(Binary.LARGER, x, dim, keepdim)


@implements("amin")
def amin(func: Any, x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    return _reduced(Binary.SMALLER, x, dim, keepdim)


@implements("max", "min")
def extremum(func: Any, x: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """All three forms: of all elements, of two tensors, and along a dimension with the position."""
    if isinstance(dim, Tensor):
        return torch.maximum(x, dim) if func.overloadpacket.__name__ == "max" else torch.minimum(x, dim)
    if dim is None:
        return x.amax() if func.overloadpacket.__name__ == "max" else x.amin()
    return selected(func, x, dim, keepdim)


@implements("median", "nanmedian", "mode", "kthvalue")
def chosen(func: Any, x: Tensor, *args: Any, **given: Any) -> Any:
    if not args and not given:
        flat = x.flatten()
        return flat[func(values_of(flat), 0).indices]
    return selected(func, x, *args, **given)


def selected(func: Any, x: Tensor, *args: Any, **given: Any) -> tuple[Tensor, Tensor]:
    """Elements that torch selects along a dimension, here by the doubles."""
    positions = func(values_of(x), *args, **given)[1]
    dim = next((item for item in (given.get("dim"), *args[-2:]) if type(item) is int), -1)
    return taken(lifted(x), positions, dim, x), positions


def taken(places: Tensor, positions: Tensor, dim: int, like: Any) -> LiftedTensor:
    """The elements at positions along a dimension, which may be missing from the positions."""
    if not places.dim():
        return made(places.clone(), like)
    shown = positions if positions.dim() == places.dim() else positions.unsqueeze(dim)
    return made(places.gather(dim, shown).reshape(positions.shape), like)


@implements("argmax", "argmin", "count_nonzero")
def position(func: Any, x: Tensor, *args: Any, **given: Any) -> Tensor:
    found: Tensor = func(values_of(x), *args, **given)
    return found


@implements("var")
def var(func: Any, x: Tensor, dim: Any = None, *args: Any, **given: Any) -> Tensor:
    return _var_mean(x, *_var_arguments(dim, *args, **given))[0]


@implements("std")
def std(func: Any, x: Tensor, dim: Any = None, *args: Any, **given: Any) -> Tensor:
    return _var_mean(x, *_var_arguments(dim, *args, **given))[0].sqrt()


@implements("var_mean")
def var_mean(func: Any, x: Tensor, dim: Any = None, *args: Any, **given: Any) -> tuple[Tensor, Tensor]:
    return _var_mean(x, *_var_arguments(dim, *args, **given))


@implements("std_mean")
def std_mean(func: Any, x: Tensor, dim: Any = None, *args: Any, **given: Any) -> tuple[Tensor, Tensor]:
    variance, average = _var_mean(x, *_var_arguments(dim, *args, **given))
    return variance.sqrt(), average


def _var_arguments(
    dim: Any, unbiased: bool = True, keepdim: bool = False, correction: Any = None
) -> tuple[Any, float, bool]:
    """Dimensions, correction and keepdim of any form: some give `unbiased` in place of the dimensions."""
    if isinstance(dim, bool):
        return None, float(dim), keepdim
    return dim, float(unbiased) if correction is None else correction, keepdim


def _var_mean(x: Tensor, dim: Dims, correction: float, keepdim: bool) -> tuple[Tensor, Tensor]:
    dims = dims_of(x, dim)
    average = x.mean(dims, keepdim=True)
    centred = x - average
    variance = (centred * centred).sum(dims, keepdim=keepdim) / (count(x, dims) - correction)
    return variance, average if keepdim else average.squeeze(dims)


@implements("linalg_vector_norm")
def vector_norm(func: Any, x: Tensor, ord: Any = 2, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
    dims = dims_of(x, dim)
    if ord == 2:
        return (x * x).sum(dims, keepdim=keepdim).sqrt()
    if ord == 1:
        return x.abs().sum(dims, keepdim=keepdim)
    if math.isinf(ord):
        return x.abs().amax(dims, keepdim) if ord > 0 else x.abs().amin(dims, keepdim)
    if ord == 0:
        return (x != 0).to(x.dtype).sum(dims, keepdim=keepdim)
    return (x.abs() ** ord).sum(dims, keepdim=keepdim) ** (1 / ord)


@implements("norm")
def norm(func: Any, x: Tensor, p: Any = 2, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> Any:
    if not isinstance(p, int | float | None):
        raise unsupported(f"the norm '{p}'")
    return vector_norm(func, x, 2 if p is None else p, dim, keepdim, dtype)


@implements("logsumexp")
def logsumexp(func: Any, x: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    dims = dims_of(x, dim)
    largest = x.amax(dims, keepdim=True)
    largest = torch.where(largest.isinf(), 0.0, largest)
    summed = (x - largest).exp().sum(dims, keepdim=True).log() + largest
    return summed if keepdim else summed.squeeze(dims)
