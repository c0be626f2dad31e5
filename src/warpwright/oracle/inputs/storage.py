"""Tensors as bytes, for processes without torch."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from warpwright.core.dtypes import dtype_named
from warpwright.oracle.inputs.arguments import torch_dtype

Tensor = torch.Tensor
"""The tensor type, for rooms that pass tensors on but do not import torch."""


def to_bytes(tensor: torch.Tensor) -> bytes:
    """Returns the bytes from the first element to the last, gaps included, so that a view with the same strides
    fits.
    """
    if not tensor.numel():
        return b""
    held = tensor.detach().as_strided((_span(tensor.shape, tensor.stride()),), (1,), tensor.storage_offset())
    return held.contiguous().view(torch.uint8).numpy().tobytes()


def from_bytes(
    data: bytes, dtype: str, shape: Sequence[int], stride: Sequence[int], offset: int = 0
) -> torch.Tensor | None:
    """Builds the tensor that starts at `offset` in `data`; None if it does not fit."""
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
    """Views the memory as integers, so that NaN equals itself and every type can be copied."""
    return tensor.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])


def held(tensor: torch.Tensor) -> torch.Tensor:
    """Returns only the elements that an expanded tensor has in memory."""
    for dim, stride in enumerate(tensor.stride()):
        if stride == 0:
            tensor = tensor.narrow(dim, 0, min(tensor.shape[dim], 1))
    return tensor
