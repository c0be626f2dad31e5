"""A quick check of timed results, at a fraction of the cost of the full check.

A result is compared with one run of the reference in its own precision, within an allowance derived from one draw that
was fully checked. The quick check only ever accepts: a result that fails it goes to the full check, which decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from warpwright.core.task import Draw, Task
from warpwright.oracle.compare.elements import WORST
from warpwright.oracle.inputs.arguments import torch_dtype
from warpwright.oracle.truth.expected import Expected, Scenario
from warpwright.oracle.truth.reference import Tensors, evaluate, function

AT_ONCE = 1 << 27
"""Elements compared at a time, which bounds the temporary memory."""
_REFERENCE_ERRORS = 2.0
"""The reference may be off by as much as the candidate, so the allowance is doubled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The allowed deviation of one output: a share of the row's RMS plus a share of the element itself."""

    of_row: float
    of_element: float


def allowances(expected: Sequence[Expected]) -> tuple[Allowance, ...]:
    return tuple(_of(item) for item in expected)


def reference_results(task: Task, draw: Draw, given: Scenario) -> Tensors:
    fresh = given.copy()
    return evaluate(task, draw.case, function(task.reference), fresh.arguments, fresh.gradients, fresh.saves)


def matches_reference(allowed: Sequence[Allowance], wanted: Tensors, found: Tensors) -> torch.Tensor:
    """Compares results with the reference on the GPU, without synchronising; a scalar tensor of bool."""
    if len(found) != len(wanted):
        return wanted[0].new_zeros((), dtype=torch.bool)
    return torch.stack([_matches(*three) for three in zip(allowed, wanted, found, strict=True)]).all()


def _of(expected: Expected) -> Allowance:
    if expected.spread is None:
        return Allowance(of_row=0.0, of_element=0.0)
    size = expected.value.nan_to_num(0.0, 0.0, 0.0).square().mean().sqrt().clamp_min(1e-300)
    share = float(expected.spread.square().mean().sqrt() / size)
    rounding = torch.finfo(torch_dtype(expected.spec.dtype)).eps
    allowed = _REFERENCE_ERRORS * WORST * expected.slack * share
    return Allowance(of_row=allowed, of_element=allowed + _REFERENCE_ERRORS * rounding)


def _matches(allowance: Allowance, wanted: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
    if found.shape != wanted.shape or found.dtype is not wanted.dtype:
        return found.new_zeros((), dtype=torch.bool)
    if not wanted.is_floating_point():
        return (found == wanted).all()
    rows = max(AT_ONCE * len(wanted) // wanted.numel(), 1) if wanted.dim() > 1 and wanted.numel() else 0
    pairs = zip(wanted.split(rows), found.split(rows), strict=True) if rows else [(wanted, found)]
    return torch.stack([_close(allowance, *pair) for pair in pairs]).all()


def _close(allowance: Allowance, wanted: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
    expected, actual = wanted.float(), found.float()
    row = (
        torch.linalg.vector_norm(expected, dim=-1, keepdim=True) / expected.shape[-1] ** 0.5
        if expected.dim()
        else expected.abs()
    )
    allowed = (allowance.of_element * expected.abs()).add_(allowance.of_row * row)
    # Non-finite allowances fail and go to the full check: within infinity every value would pass.
    return ((actual - expected).abs_() <= allowed).logical_and_(allowed < math.inf).all()
