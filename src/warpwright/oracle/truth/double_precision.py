"""Runs the reference in double precision, whatever casts it makes.

References contain casts such as `.float()` and `dtype=torch.float32`, which mean "at least this precision"; here they
become double. Rounding to 8-bit types is omitted for results; eight_bits.py says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from warpwright.oracle.truth import eight_bits
from warpwright.oracle.truth.modes import Mode


class Lift(Mode):
    """Replaces every floating dtype that an operation requests by float64."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = kwargs or {}
        out = func(*eight_bits.used(func, args), **lifted_options(options))
        return eight_bits.marked(func, args, options.get("dtype"), out)


def lifted_options(options: dict[str, Any]) -> dict[str, Any]:
    dtype = options.get("dtype")
    if isinstance(dtype, torch.dtype) and dtype.is_floating_point:
        return {**options, "dtype": torch.float64}
    return options


@contextmanager
def lifted(mode: Mode | None = None) -> Iterator[None]:
    """Runs everything inside in double precision, under Lift or a derived mode."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with mode or Lift():
            yield
    finally:
        torch.set_default_dtype(before)


def to_double(value: Any) -> Any:
    """Copies a value with floating tensors in double; integers are copied too, so that a mutation cannot reach the
    original.
    """
    if isinstance(value, torch.Tensor):
        return value.to(torch.float64, copy=True) if value.is_floating_point() else value.clone()
    return [to_double(item) for item in value] if isinstance(value, list) else value
