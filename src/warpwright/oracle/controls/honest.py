"""Correct results, computed differently. A task that refutes one of them is too strict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from warpwright.core.dtypes import dtype_named
from warpwright.core.task import Direction, Task
from warpwright.oracle.controls.wrong import Prepared
from warpwright.oracle.inputs.arguments import torch_dtype
from warpwright.oracle.truth import eight_bits
from warpwright.oracle.truth.jitter import Jitter, in_fp32, moves_only
from warpwright.oracle.truth.modes import Mode
from warpwright.oracle.truth.reference import Function, Tensors, evaluate, function, tensors_in

Compute = Callable[[Prepared], Tensors]
_UNSEEN = 7919  # a seed that no budget uses
_SPLIT = 48


def variants(task: Task) -> Iterator[tuple[str, Compute]]:
    """Yields honest implementations by name."""
    yield "eager", partial(_eager, None, Widened)
    yield "double accumulation", lambda at: at.expected_results()
    yield "other order", partial(_eager, None, SplitSums)
    yield "other rounding", partial(_eager, None, _unseen_jitter)
    for name in task.variants:
        if _applies(task, name):
            yield name, partial(_eager, name, Widened)


def _applies(task: Task, name: str) -> bool:
    """Whether a variant applies: one of the forward function also gives the backward pass if that uses autograd."""
    if name.startswith("backward"):
        return task.direction is Direction.BACKWARD
    return task.direction is not Direction.BACKWARD or task.reference.backward is None


def _unseen_jitter() -> Jitter:
    return Jitter(_UNSEEN)


def _eager(name: str | None, make_mode: Callable[[], Mode], at: Prepared) -> Tensors:
    fresh, called = at.given.copy(), function(at.task.reference, name)
    with make_mode():
        if name and name.startswith("backward"):
            with torch.no_grad():
                found = tensors_in(called(*fresh.gradients, *fresh.saves, *fresh.arguments))
        else:
            found = _evaluated(at, called, fresh)
    specs = [wanted.spec for wanted in at.expected]
    found = eight_bits.finished(found, specs)
    return [_as_declared(tensor, spec.dtype) for tensor, spec in zip(found, specs, strict=True)]


def _evaluated(at: Prepared, called: Function, fresh: Any) -> Tensors:
    return evaluate(at.task, at.draw.case, called, fresh.arguments, fresh.gradients, fresh.saves)


def _as_declared(tensor: torch.Tensor, dtype: str) -> torch.Tensor:
    """Rounds to 8-bit types and makes the layout contiguous; neither is the purpose of a variant."""
    wanted = torch_dtype(dtype)
    return (tensor.to(wanted) if dtype_named(dtype).quantised else tensor).contiguous()


class Widened(Mode):
    """Computes with 16-bit operands in fp32, as every GPU library does but some of torch's CPU kernels do not."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = kwargs or {}
        return func(*args, **options) if moves_only(func) else in_fp32(func, args, options)


class SplitSums(Widened):
    """Computes sums and products in pieces from the far end, in fp32."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = kwargs or {}
        match func.overloadpacket.__name__:
            case "mm" | "bmm" if not options and args[0].is_floating_point():
                return _split_product(func, *args)
            case "sum" | "mean" if len(args) > 1 and isinstance(args[1], list | tuple) and args[1]:
                return func(args[0].flip(args[1]), *args[1:], **options)
        return super().__torch_dispatch__(func, types, args, kwargs)


def _split_product(func: Any, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    wide = torch.float64 if left.dtype is torch.float64 else torch.float32
    total = torch.zeros(*left.shape[:-1], right.shape[-1], dtype=wide, device=left.device)
    for start in reversed(range(0, left.shape[-1], _SPLIT)):
        piece = left[..., start : start + _SPLIT].to(wide), right[..., start : start + _SPLIT, :].to(wide)
        total += func(*piece)
    return total.to(left.dtype)
