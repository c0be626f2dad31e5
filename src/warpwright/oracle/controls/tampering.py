"""Runs the reference without one of its operations, without a change of its source.

Every operation that torch executes, forward or backward, is intercepted here. The omitted operation returns its first
operand instead of its result, if the shapes allow it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from warpwright.oracle.truth.double_precision import lifted_options
from warpwright.oracle.truth.modes import Mode

# These operations move, create or convert values; the formula is the same without them.
_NOT_ARITHMETIC = {
    "clone", "copy_", "_to_copy", "detach", "cat", "stack", "index", "gather", "alias", "where", "index_select",
    "full", "full_like", "zeros", "zeros_like", "ones", "ones_like", "empty", "empty_like", "arange", "lift_fresh",
    "fill_", "zero_", "slice_backward", "select_backward", "new_zeros", "new_full", "new_empty", "scalar_tensor",
    "empty_strided", "new_empty_strided", "constant_pad_nd", "embedding", "flip", "roll", "repeat", "sort",
    "index_put_", "scatter", "scatter_", "isnan", "isinf", "expand", "view", "_unsafe_view", "slice_scatter",
    "select_scatter",
}  # fmt: skip


class Tampered(Mode):
    """Runs in double precision without the operation of the given label, and lists the labels of all operations."""

    def __init__(self, without: str | None = None) -> None:
        super().__init__()
        self.labels: list[str] = []
        self._without = without
        self._seen: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, options = func.overloadpacket.__name__, lifted_options(kwargs or {})
        if func.is_view or name in _NOT_ARITHMETIC:
            return func(*args, **options)
        label = f"drop {name}#{self._seen[name]}"
        self._seen[name] += 1
        if label == self._without and name.endswith("_"):
            return args[0]
        out = func(*args, **options)
        stand_in = _first_operand(out, args)
        if stand_in is None:
            return out
        self.labels.append(label)
        return stand_in if label == self._without else out


def _first_operand(out: Any, args: Any) -> torch.Tensor | None:
    """Returns an operand with the shape of the result; None if there is none."""
    if not isinstance(out, torch.Tensor) or not out.is_floating_point():
        return None
    for arg in args:
        if isinstance(arg, torch.Tensor) and arg.is_floating_point() and _fits(arg.shape, out.shape):
            return arg.expand(out.shape).to(out.dtype).clone()
    return None


def _fits(shape: torch.Size, target: torch.Size) -> bool:
    if len(shape) > len(target):
        return False
    return all(size in (1, wanted) for size, wanted in zip(reversed(shape), reversed(target), strict=False))
