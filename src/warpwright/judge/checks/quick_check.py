"""Whether a timed result looks right, at a fraction of the price of the full truth.

Held against one run of the reference in its own precision, with an allowance known from a draw whose full truth was
computed. This only ever clears: what does not look right is held against the full truth before anything is said of it.
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

_TWO = 2.0
"""The reference itself is as far off as the candidate may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What is allowed of one output: a share of the size of its row, and of the element itself."""

    of_row: float
    of_element: float


def allowances(expected: Sequence[Expected]) -> tuple[Allowance, ...]:
    return tuple(_of(item) for item in expected)


def reference_results(task: Task, draw: Draw, given: Scenario) -> Tensors:
    fresh = given.copy()
    return evaluate(task, draw.case, function(task.reference), fresh.arguments, fresh.gradients, fresh.saves)


def matches_reference(like: Sequence[Allowance], wanted: Tensors, found: Tensors) -> torch.Tensor:
    """One truth value on the GPU; nobody waits for it here."""
    if len(found) != len(wanted):
        return wanted[0].new_zeros((), dtype=torch.bool)
    return torch.stack([_resembles(*three) for three in zip(like, wanted, found, strict=True)]).all()


def _of(expected: Expected) -> Allowance:
    if expected.spread is None:
        return Allowance(of_row=0.0, of_element=0.0)
    size = expected.value.nan_to_num(0.0, 0.0, 0.0).square().mean().sqrt().clamp_min(1e-300)
    share = float(expected.spread.square().mean().sqrt() / size)
    rounding = torch.finfo(torch_dtype(expected.spec.dtype)).eps
    allowed = _TWO * WORST * expected.slack * share
    return Allowance(of_row=allowed, of_element=allowed + _TWO * rounding)


def _resembles(like: Allowance, wanted: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
    if found.shape != wanted.shape or found.dtype is not wanted.dtype:
        return found.new_zeros((), dtype=torch.bool)
    if not wanted.is_floating_point():
        return (found == wanted).all()
    truth, actual = wanted.float(), found.float()
    row = torch.linalg.vector_norm(truth, dim=-1, keepdim=True) / truth.shape[-1] ** 0.5 if truth.dim() else truth.abs()
    allowed = (like.of_element * truth.abs()).add_(like.of_row * row)
    # What is not finite is for the full truth: compared with infinity, anything would do.
    return ((actual - truth).abs_() <= allowed).logical_and_(allowed < math.inf).all()
