"""Modules that are only traced: their large weights are not drawn, everything else is as they construct it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from warpwright.core.task import Reference
from warpwright.oracle.truth.reference import function
from warpwright.oracle.truth.undrawn import LARGE, Undrawn

SOURCE = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(128, 128)
        self.register_buffer("mask", torch.ones(128))

    def forward(self, x):
        return self.linear(x)
"""


def draws(make: Callable[[], object]) -> bool:
    """Whether the generator gave numbers, by the draw that follows."""
    torch.manual_seed(0)
    make()
    found = torch.rand(1)
    torch.manual_seed(0)
    return bool(found != torch.rand(1))


def test_large_weights_are_not_drawn() -> None:
    def layers() -> object:
        with Undrawn():
            linear = nn.Linear(LARGE, 2, bias=False)
            nn.init.xavier_normal_(linear.weight)
            return nn.Conv2d(64, 64, 3, bias=False)

    assert not draws(layers)
    assert draws(lambda: nn.Linear(LARGE, 2, bias=False))


def test_constants_and_small_tensors_are_as_ever() -> None:
    def scale() -> torch.Tensor:
        torch.manual_seed(3)
        return nn.init.normal_(torch.empty(8))

    with Undrawn():
        assert torch.equal(nn.init.constant_(torch.empty(LARGE), 2.0), torch.full((LARGE,), 2.0))
        small = scale()
    assert torch.equal(small, scale())


def test_a_traced_module_does_not_replace_the_one_that_gives_expected_values() -> None:
    reference = Reference(source=SOURCE, entry="Model", style="module", state=("linear.weight", "linear.bias", "mask"))
    weight, bias, mask, x = torch.randn(128, 128), torch.zeros(128), torch.ones(128), torch.randn(2, 128)
    traced, called = (function(reference, drawn=drawn)(x, weight, bias, mask) for drawn in (False, True))
    assert torch.equal(traced, called)
    assert torch.equal(called, torch.nn.functional.linear(x, weight, bias))
