"""Scans, and orders that the doubles decide."""

from __future__ import annotations

from typing import Any

import torch

from warpwright.prove import numbers
from warpwright.prove.numbers import Binary
from warpwright.prove.operations.reductions import taken
from warpwright.prove.tensor import LiftedTensor, implements, lifted, promoted, values_of

Tensor = torch.Tensor


@implements("cumsum")
def cumsum(func: Any, x: Tensor, dim: int, dtype: Any = None) -> Tensor:
    return _running(Binary.ADD, x, dim, dtype)


@implements("cumprod")
def cumprod(func: Any, x: Tensor, dim: int, dtype: Any = None) -> Tensor:
    return _running(Binary.MULTIPLY, x, dim, dtype)


def _running(operation: Binary, x: Tensor, dim: int, dtype: Any) -> Tensor:
    places = lifted(x)
    return LiftedTensor(numbers.running(operation, places, dim) if x.dim() else places, dtype or promoted([x]))


@implements("logcumsumexp")
def logcumsumexp(func: Any, x: Tensor, dim: int) -> Tensor:
    largest = x.amax(dim, keepdim=True)
    return (x - largest).exp().cumsum(dim).log() + largest


@implements("cummax", "cummin")
def cumulative_extremum(func: Any, x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    positions = func(values_of(x), dim)[1]
    return taken(lifted(x), positions, dim, x), positions


@implements("topk")
def topk(
    func: Any, x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    positions = func(values_of(x), k, dim, largest, sorted)[1]
    return taken(lifted(x), positions, dim, x), positions


@implements("sort")
def sort(
    func: Any, x: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = None
) -> tuple[Tensor, Tensor]:
    positions = torch.sort(values_of(x), dim=dim, descending=descending, stable=bool(stable))[1]
    return taken(lifted(x), positions, dim, x), positions


@implements("argsort")
def argsort(func: Any, x: Tensor, *args: Any, **given: Any) -> Tensor:
    found: Tensor = func(values_of(x), *args, **given)
    return found
