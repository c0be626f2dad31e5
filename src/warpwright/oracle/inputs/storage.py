"""Tensors as the bytes they occupy, for whoever hands them to a process that has no torch."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from warpwright.core.dtypes import dtype_named
from warpwright.oracle.inputs.arguments import torch_dtype

Tensor = torch.Tensor
"""For rooms that pass tensors on and have no business with torch."""


def to_bytes(tensor: torch.Tensor) -> bytes:
    """Everything from the first element to the last, gaps and all: what a view of the same strides can be put on."""
    if not tensor.numel():
        return b""
    held = tensor.detach().as_strided((_span(tensor.shape, tensor.stride()),), (1,), tensor.storage_offset())
    return held.contiguous().view(torch.uint8).numpy().tobytes()


def from_bytes(
    data: bytes, dtype: str, shape: Sequence[int], stride: Sequence[int], offset: int = 0
) -> torch.Tensor | None:
    """The tensor that starts at `offset` in `data`; None where it does not fit."""
    size = 0 if 0 in shape else _span(shape, stride) * dtype_named(dtype).bytes
    piece = data[offset : offset + size]
    if offset < 0 or len(piece) != size or min((*shape, *stride), default=0) < 0:
        return None
    if not size:
        return torch.empty(tuple(shape), dtype=torch_dtype(dtype))
    flat = torch.frombuffer(bytearray(piece), dtype=torch.uint8).view(torch_dtype(dtype))
    return flat.as_strided(tuple(shape), tuple(stride))


def _span(shape: Sequence[int], stride: Sequence[int]) -> int:
    return 1 + sum((extent - 1) * step for extent, step in zip(shape, stride, strict=True))


def as_bits(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as whole numbers, so that NaN equals itself and every type can be moved about."""
    return tensor.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])


def held(tensor: torch.Tensor) -> torch.Tensor:
    """Just the elements an expanded tensor really has."""
    for dim, stride in enumerate(tensor.stride()):
        if stride == 0:
            tensor = tensor.narrow(dim, 0, min(tensor.shape[dim], 1))
    return tensor
