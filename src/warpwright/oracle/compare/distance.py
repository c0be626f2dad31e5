"""Measures the error of a result, to find which of two results has the larger one."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from warpwright.oracle.truth.expected import Expected
from warpwright.oracle.truth.reference import Tensors


def distance(expected: Sequence[Expected], results: Tensors) -> float | None:
    """Returns the RMS error in units of the honest spread, over all elements that have one; None if none has."""
    errors = [_relative(wanted, found) for wanted, found in zip(expected, results, strict=True)]
    known = torch.cat([error for error in errors if error is not None] or [torch.empty(0)])
    return float(known.square().mean().sqrt()) if known.numel() else None


def _relative(wanted: Expected, found: torch.Tensor) -> torch.Tensor | None:
    if wanted.spread is None or found.shape != wanted.value.shape:
        return None
    error = (found.to(torch.float64) - wanted.value) / wanted.spread
    return error[error.isfinite()]
