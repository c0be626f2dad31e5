"""The checks of published benchmarks: their inputs, and what their tolerances let pass."""

from __future__ import annotations

import torch

from warpwright.core.task import Case, Output, Reference, Role, Task, TensorArg
from warpwright.oracle.inputs.published import PUBLISHED

MODULE = """
import torch

class Normed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(64)

    def forward(self, x):
        return self.norm(x) * 0.001
"""
TASK = Task(
    name="normed",
    arguments=(
        TensorArg(name="x", shape=(4, 64)),
        TensorArg(name="weight", shape=(64,), init="gain"),
        TensorArg(name="bias", shape=(64,), init="bias"),
    ),
    outputs=(Output(name="y", shape=(4, 64)),),
    cases=(Case(name="one", role=Role.CHECK),),
    reference=Reference(source=MODULE, entry="Normed", style="module", state=("norm.weight", "norm.bias")),
)
OFFICIAL, VERIFIED = PUBLISHED


def test_parameters_stay_what_the_constructor_makes_them() -> None:
    (draw, *others) = OFFICIAL.draws(TASK, TASK.cases[0])
    x, weight, bias = OFFICIAL.scenario(TASK, draw).arguments
    assert len(others) == 4
    assert bool((weight == 1).all())
    assert bool((bias == 0).all())
    assert float(x.std()) > 0.5


def test_the_verified_inputs_are_scaled_and_negated() -> None:
    draws = VERIFIED.draws(TASK, TASK.cases[0])
    sizes = [float(VERIFIED.scenario(TASK, draw).arguments[0].abs().mean()) for draw in draws]
    assert sizes[1] > 2 * sizes[0] > 50 * sizes[2]


def test_absolute_tolerances_let_small_results_pass() -> None:
    (draw, *_) = OFFICIAL.draws(TASK, TASK.cases[0])
    given = OFFICIAL.scenario(TASK, draw)
    right = torch.nn.functional.layer_norm(given.arguments[0], (64,)) * 0.001
    assert OFFICIAL.accepts(TASK, draw, given, [right])
    assert not OFFICIAL.accepts(TASK, draw, given, [torch.zeros(4, 64)])
    assert not OFFICIAL.accepts(TASK, draw, given, [right[:2]])
    assert OFFICIAL.accepts(TASK, draw, given, [right * 1.02])
