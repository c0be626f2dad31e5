"""Views and copies: operations that only move elements, and so move their places."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._pytree import tree_map

from warpwright.prove import numbers
from warpwright.prove.tensor import (
    LiftedTensor,
    first_lifted,
    implements,
    is_floating,
    lifted,
    made,
    promoted,
    unsupported,
    values_of,
    with_places,
)


@implements(
    "alias",
    "detach",
    "lift_fresh",
    "view",
    "_unsafe_view",
    "_reshape_alias",
    "reshape",
    "as_strided",
    "expand",
    "permute",
    "transpose",
    "t",
    "unsqueeze",
    "squeeze",
    "slice",
    "select",
    "narrow",
    "split",
    "split_with_sizes",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsafe_chunk",
    "unbind",
    "diagonal",
    "unfold",
    "clone",
    "flip",
    "roll",
    "repeat",
    "gather",
    "index",
    "_unsafe_index",
    "index_select",
    "take",
    "masked_select",
    "tril",
    "triu",
    "diag_embed",
    "pixel_shuffle",
    "pixel_unshuffle",
    "channel_shuffle",
    "rot90",
    "slice_scatter",
    "select_scatter",
    "diagonal_scatter",
    "index_copy",
    "broadcast_in_dim",
)
def moved(func: Any, *args: Any, **given: Any) -> Any:
    """Does to places what torch does to elements. Zeros that come in are right: place 0 is the number zero."""
    like = first_lifted((args, given))
    found = func(*with_places(args), **with_places(given))
    assert like is not None
    return tree_map(lambda item: LiftedTensor(item, like.dtype) if isinstance(item, torch.Tensor) else item, found)


@implements("cat", "stack")
def joined(func: Any, tensors: Any, dim: int = 0) -> LiftedTensor:
    return LiftedTensor(func([lifted(item) for item in tensors], dim), _common(tensors))


def _common(tensors: Any) -> torch.dtype:
    dtype: torch.dtype = tensors[0].dtype
    for item in tensors:
        dtype = torch.promote_types(dtype, item.dtype)
    return dtype


@implements("where")
def where(func: Any, condition: torch.Tensor, x: Any, y: Any) -> LiftedTensor:
    return LiftedTensor(torch.where(values_of(condition).to(torch.bool), lifted(x), lifted(y)), promoted((x, y)))


@implements("masked_fill")
def masked_fill(func: Any, x: Any, mask: torch.Tensor, value: Any) -> LiftedTensor:
    return LiftedTensor(torch.where(mask, lifted(value), lifted(x)), x.dtype)


@implements("masked_scatter")
def masked_scatter(func: Any, x: Any, mask: torch.Tensor, source: Any) -> LiftedTensor:
    return LiftedTensor(func(lifted(x), mask, lifted(source)), x.dtype)


@implements("constant_pad_nd")
def constant_pad(func: Any, x: LiftedTensor, pad: Any, value: Any = 0) -> LiftedTensor:
    return LiftedTensor(func(x.places, pad, int(lifted(value))), x.dtype)


@implements("fill")
def fill(func: Any, x: LiftedTensor, value: Any) -> LiftedTensor:
    return LiftedTensor(lifted(value).expand(x.shape).clone(), x.dtype)


@implements("zero")
def zero(func: Any, x: LiftedTensor) -> LiftedTensor:
    return LiftedTensor(torch.zeros_like(x.places), x.dtype)


@implements("copy_")
def copy_(func: Any, target: torch.Tensor, source: Any, non_blocking: bool = False) -> torch.Tensor:
    if isinstance(target, LiftedTensor):
        target.places.copy_(lifted(source))
        return target
    if is_floating(target):
        raise unsupported("a copy into a tensor of constants")
    return target.copy_(values_of(source))


@implements("copy")
def copied(func: Any, target: torch.Tensor, source: Any, non_blocking: bool = False) -> torch.Tensor:
    return LiftedTensor(lifted(source).expand(target.shape).clone(), target.dtype)


@implements("_to_copy", "convert_element_type", "to")
def cast(func: Any, x: Any, dtype: torch.dtype | None = None, **options: Any) -> torch.Tensor:
    """Casts between floating types round nothing; integers are those of the doubles."""
    wanted = dtype or x.dtype
    if wanted.is_floating_point:
        kept = {name: value for name, value in options.items() if name == "memory_format" and value is not None}
        return LiftedTensor(lifted(x).clone(**kept), wanted)
    if wanted.is_complex:
        raise unsupported("complex numbers")
    converted: torch.Tensor = values_of(x).to(wanted)
    return converted


@implements("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "scalar_tensor")
def filled(func: Any, x: Any, *args: Any, **given: Any) -> torch.Tensor:
    found = func(_memory_like(x), *with_numbers(args), **given)
    return LiftedTensor(lifted(found), found.dtype) if is_floating(found) else found


def with_numbers(args: Any) -> Any:
    return tree_map(lambda item: float(values_of(item)) if isinstance(item, LiftedTensor) else item, args)


@implements("empty_like", "new_empty", "new_empty_strided")
def empty(func: Any, x: Any, *args: Any, **given: Any) -> torch.Tensor:
    found = func(_memory_like(x), *args, **given)
    return LiftedTensor(torch.zeros_like(found, dtype=torch.int64), found.dtype) if is_floating(found) else found


def _memory_like(x: Any) -> Any:
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype) if isinstance(x, LiftedTensor) else x


@implements("_local_scalar_dense", "item")
def item(func: Any, x: LiftedTensor) -> float:
    return numbers.value_of(x.places)


_PADS = ("reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d")
_UPSAMPLINGS = ("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")


@implements(*_PADS, *_UPSAMPLINGS)
def chosen(func: Any, x: LiftedTensor, *args: Any) -> LiftedTensor:
    """Chooses positions, as doubles, which torch does this for, and then the elements that they name."""
    return made(x.places.reshape(-1)[_positions(func, x.shape, *args)], x)


@implements(*(f"{name}_backward" for name in _PADS))
def pad_backward(func: Any, grad: LiftedTensor, x: LiftedTensor, padding: Any) -> LiftedTensor:
    return _brought_back(func, grad, x.shape, padding)


@implements(*(f"{name}_backward" for name in _UPSAMPLINGS))
def upsampling_backward(func: Any, grad: LiftedTensor, output_size: Any, input_size: Any, *scales: Any) -> LiftedTensor:
    return _brought_back(func, grad, input_size, output_size, *scales)


def _positions(func: Any, shape: Any, *args: Any) -> torch.Tensor:
    positions = torch.arange(math.prod(shape), dtype=torch.float64).reshape(tuple(shape))
    found: torch.Tensor = func(positions, *args).to(torch.int64)
    return found


def _brought_back(func: Any, grad: LiftedTensor, shape: Any, *args: Any) -> LiftedTensor:
    forward = getattr(torch.ops.aten, func.overloadpacket.__name__.removesuffix("_backward")).default
    empty = torch.zeros(tuple(shape), dtype=torch.int64)
    return made(numbers.joined_at(numbers.Binary.ADD, empty, _positions(forward, shape, *args), grad.places), grad)
