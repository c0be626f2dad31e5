"""Modules without random weights: drawing a large network takes seconds, and what is only traced reads no weight."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

LARGE = 4096
"""The least number of elements that is worth skipping; smaller tensors may be constants, not weights."""
DRAWS = ("uniform_", "normal_", "trunc_normal_", "orthogonal_", "sparse_", "random_", "exponential_", "bernoulli_")
_DRAWN = {name for draw in DRAWS for name in (draw, f"xavier_{draw}", f"kaiming_{draw}")}


class Undrawn(TorchFunctionMode):
    """Leaves large tensors as they are where they would be filled with random numbers."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        target = args[0] if args else (kwargs or {}).get("tensor")
        if func.__name__ in _DRAWN and isinstance(target, torch.Tensor) and target.numel() >= LARGE:
            return target
        return func(*args, **(kwargs or {}))
