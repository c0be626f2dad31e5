"""Compares a whole result with the expected tensors: their number and their contents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from warpwright.oracle.compare.elements import Mismatch, compare
from warpwright.oracle.truth.expected import FEW_RUNS, HONEST_RUNS, Expected
from warpwright.oracle.truth.reference import Tensors


def check_results(expected: Sequence[Expected], results: Tensors) -> Mismatch | None:
    """Returns the first mismatch; None if there is none."""
    if len(results) != len(expected):
        message = (
            f"{len(results)} tensors were returned, {len(expected)} are expected: {', '.join(e.name for e in expected)}"
        )
        return Mismatch(output="", kind="count", message=message)
    found = (compare(wanted, result) for wanted, result in zip(expected, results, strict=True))
    return next((mismatch for mismatch in found if mismatch), None)


def check_in_steps(
    expecting: Callable[[int], tuple[Expected, ...]], results: Tensors
) -> tuple[tuple[Expected, ...], Mismatch | None]:
    """Compares with a budget from few honest runs, a third of the cost, and with the full budget only if that fails."""
    for runs in (FEW_RUNS, HONEST_RUNS):
        expected = expecting(runs)
        mismatch = check_results(expected, results)
        if mismatch is None:
            break
    return expected, mismatch


def same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors are equal to the last bit, NaN and the sign of zero included, whatever the layout."""
    return left.shape == right.shape and left.dtype is right.dtype and torch.equal(_bits(left), _bits(right))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)
