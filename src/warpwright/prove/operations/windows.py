"""Sliding windows over the last dimensions of a tensor, as places or as positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

Tensor = torch.Tensor


def each(value: int | Sequence[int], dims: int) -> list[int]:
    """One number for each dimension, from one for all or one for each."""
    given = [value] if isinstance(value, int) else list(value)
    return given * dims if len(given) == 1 else given


def padded(places: Tensor, before: Sequence[int], after: Sequence[int]) -> Tensor:
    """Puts zeros around the last dimensions; negative padding cuts off."""
    pairs = zip(reversed(before), reversed(after), strict=True)
    return torch.nn.functional.pad(places, [size for pair in pairs for size in pair])


def windows(places: Tensor, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Tensor:
    """A view with the windows' positions in place of the last dimensions, followed by the positions in a window."""
    first = places.dim() - len(kernel)
    for dim, (size, step, apart) in enumerate(zip(kernel, stride, dilation, strict=True)):
        places = places.unfold(first + dim, apart * (size - 1) + 1, step)[..., ::apart]
    return places


def spread(places: Tensor, stride: Sequence[int]) -> Tensor:
    """Puts zeros between the elements of the last dimensions, so that they are `stride` apart."""
    first = places.dim() - len(stride)
    shape = [
        *places.shape[:first],
        *((size - 1) * step + 1 for size, step in zip(places.shape[first:], stride, strict=True)),
    ]
    made = places.new_zeros(shape)
    every: list[Any] = [..., *(slice(None, None, step) for step in stride)]
    made[tuple(every)] = places
    return made
