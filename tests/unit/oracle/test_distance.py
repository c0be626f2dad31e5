"""Distance: larger errors give a larger distance, and elements without a spread do not count."""

from __future__ import annotations

import torch

from warpwright.core.signature import TensorSpec
from warpwright.core.task import Compare
from warpwright.oracle.compare.distance import distance
from warpwright.oracle.truth.expected import Expected

SPEC = TensorSpec(name="y", shape=(3,), stride=(1,), dtype="fp32")
TRUTH = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)


def expected(spread: torch.Tensor | None) -> Expected:
    return Expected(name="y", spec=SPEC, compare=Compare.VALUE, value=TRUTH, spread=spread)


def test_distance_is_in_units_of_the_spread() -> None:
    owed = expected(torch.full((3,), 0.5, dtype=torch.float64))
    assert distance([owed], [TRUTH.float()]) == 0.0
    assert distance([owed], [(TRUTH + 1.0).float()]) == 2.0


def test_tensors_without_a_spread_have_no_distance() -> None:
    assert distance([expected(None)], [TRUTH]) is None
    assert distance([expected(torch.zeros(3, dtype=torch.float64))], [TRUTH.float()]) is None
