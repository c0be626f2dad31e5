"""Rounding to 8 bits on the way through a reference.

A result in 8 bits is judged before that rounding, so that the comparator can tell another rounding of a tie from an
error. A value that is used further is rounded as every implementation rounds it. Which of the two a value is shows only
later: until then it carries its unrounded value and a mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map

from warpwright.core.dtypes import dtype_named
from warpwright.core.signature import TensorSpec

EIGHT_BITS = (torch.float8_e4m3fn, torch.float8_e5m2)


def used(func: Any, args: Any) -> Any:
    """The arguments of an operation with marked values rounded, unless it only moves them."""
    return args if func.is_view or func.overloadpacket.__name__.endswith("_") else tree_map(_rounded, args)


def marked(func: Any, args: Any, dtype: Any, out: Any) -> Any:
    """Marks the result of a cast to 8 bits, and a view of a marked value."""
    mark = dtype if dtype in EIGHT_BITS else _mark(args[0]) if func.is_view and args else None
    if mark is not None and isinstance(out, torch.Tensor):
        out.warpwright_eight_bits = mark  # type: ignore[attr-defined]
    return out


def finished(values: Sequence[torch.Tensor], specs: Sequence[TensorSpec]) -> list[torch.Tensor]:
    """Results with marked values rounded where they are not in 8 bits themselves."""
    pairs = zip(values, specs, strict=True)
    return [value if dtype_named(spec.dtype).quantised else _rounded(value) for value, spec in pairs]


def _rounded(value: Any) -> Any:
    mark = _mark(value)
    return value if mark is None else value.to(mark).to(value.dtype)


def _mark(value: Any) -> torch.dtype | None:
    found: torch.dtype | None = getattr(value, "warpwright_eight_bits", None)
    return found
