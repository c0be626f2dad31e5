"""A whole result against everything that is owed: count, contents, and what was done to memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from warpwright.oracle.compare.elements import Mismatch, compare
from warpwright.oracle.truth.expected import FEW_RUNS, HONEST_RUNS, Expected
from warpwright.oracle.truth.reference import Tensors


def check_results(expected: Sequence[Expected], results: Tensors) -> Mismatch | None:
    """The first thing that is wrong; None if nothing is."""
    if len(results) != len(expected):
        message = f"{len(results)} tensors came back, {len(expected)} are owed: {', '.join(e.name for e in expected)}"
        return Mismatch(output="", kind="count", message=message)
    found = (compare(wanted, result) for wanted, result in zip(expected, results, strict=True))
    return next((mismatch for mismatch in found if mismatch), None)


def check_in_steps(
    expecting: Callable[[int], tuple[Expected, ...]], results: Tensors
) -> tuple[tuple[Expected, ...], Mismatch | None]:
    """Few honest runs clear nearly everything at a third of the price; the rest is held against all of them."""
    for runs in (FEW_RUNS, HONEST_RUNS):
        expected = expecting(runs)
        mismatch = check_results(expected, results)
        if mismatch is None:
            break
    return expected, mismatch


def same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Equal to the last bit, NaN and the sign of zero included, whatever the layout."""
    return left.shape == right.shape and left.dtype is right.dtype and torch.equal(_bits(left), _bits(right))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)
