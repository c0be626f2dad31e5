"""The truth: the reference run in double precision, whatever casts it makes on the way.

References are written as people write them, with `.float()` and `dtype=torch.float32`. Those casts say "at least this
precise"; in the truth they become double. Rounding to an 8-bit type is put off too, so that the truth is the value
before rounding and the comparator can tell a flip at a tie from an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from warpwright.oracle.truth.modes import Mode


class Lift(Mode):
    """Turns every floating type that an operation asks for into float64."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **lifted_options(kwargs or {}))


def lifted_options(options: dict[str, Any]) -> dict[str, Any]:
    dtype = options.get("dtype")
    if isinstance(dtype, torch.dtype) and dtype.is_floating_point:
        return {**options, "dtype": torch.float64}
    return options


@contextmanager
def lifted(mode: Mode | None = None) -> Iterator[None]:
    """Double precision for everything inside, under Lift or a mode that builds on it."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with mode or Lift():
            yield
    finally:
        torch.set_default_dtype(before)


def to_double(value: Any) -> Any:
    """A copy with floating tensors in double; integers are copied, so that nothing is mutated by accident."""
    if isinstance(value, torch.Tensor):
        return value.to(torch.float64, copy=True) if value.is_floating_point() else value.clone()
    return [to_double(item) for item in value] if isinstance(value, list) else value
