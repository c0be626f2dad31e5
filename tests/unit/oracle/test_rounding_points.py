"""Rounding points: an honest implementation may round where the reference does, elsewhere, or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from warpwright.core.task import Case, Draw, Output, Reference, Role, Task, TensorArg
from warpwright.oracle.compare.results import check_results
from warpwright.oracle.controls.fitness import refuted_honest
from warpwright.oracle.controls.wrong import Prepared
from warpwright.oracle.truth.expected import Expected, expectations, scenario
from warpwright.oracle.truth.jitter import Jitter
from warpwright.oracle.truth.reference import evaluate, function

QUANTISE = """
import torch

def forward(x):
    step = x.abs().amax(-1, keepdim=True) / 127
    return torch.round(x / step).to(torch.int8)
"""


def of(source: str, dtype: str, rows: int = 16, columns: int = 200, result: str = "int8") -> tuple[Task, Draw]:
    task = Task(
        name="own",
        arguments=(TensorArg(name="x", shape=("R", "C")),),
        outputs=(Output(name="y", shape=("R", "C"), dtype=result),),
        cases=(Case(name="one", role=Role.CHECK, dims={"R": rows, "C": columns}, dtype=dtype),),
        reference=Reference(source=source),
    )
    return task, Draw(case=task.cases[0], seed=3)


def expected_of(task: Task, draw: Draw) -> tuple[torch.Tensor, tuple[Expected, ...]]:
    given = scenario(task, draw)
    return given.arguments[0], expectations(task, draw, given)


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
def test_quantisation_is_right_with_the_roundings_of_eager_torch_and_without_them(dtype: str) -> None:
    x, expected = expected_of(*of(QUANTISE, dtype))
    step = x.abs().amax(-1, keepdim=True) / 127
    eager = torch.round(x / step).to(torch.int8)
    wide = x.double()
    fused = torch.round(wide / (wide.abs().amax(-1, keepdim=True) / 127)).to(torch.int8)
    assert check_results(expected, [eager]) is None
    assert check_results(expected, [fused]) is None


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
def test_a_wrong_quantisation_is_refuted(dtype: str) -> None:
    x, expected = expected_of(*of(QUANTISE, dtype))
    step = x.float().abs().amax(-1, keepdim=True) / 127
    assert check_results(expected, [torch.floor(x / step).to(torch.int8)]) is not None
    assert check_results(expected, [torch.round(x / (step * 128 / 127)).to(torch.int8)]) is not None


AFFINE = """
import torch

def forward(x):
    low, high = x.amin(), x.amax()
    return ((x - low) / (high - low + 1e-6) * 255).round().to(torch.uint8)
"""


@pytest.mark.parametrize("seed", range(4))
def test_whole_numbers_that_many_roundings_move_may_move_further_than_the_few_runs_saw(seed: int) -> None:
    """Near 255 the steps of bf16 are whole numbers, and four roundings follow one another."""
    task, draw = of(AFFINE, "bf16", result="uint8")
    draw = replace(draw, seed=seed)
    given = scenario(task, draw)
    with Jitter(7919):
        other = evaluate(task, draw.case, function(task.reference), given.copy().arguments, [], [])
    expected = expectations(task, draw, given)
    assert check_results(expected, other) is None
    wrong = (expected[0].value.double() * 0.95).round().to(torch.uint8)
    assert check_results(expected, [wrong]) is not None


ROUND_TRIP = """
import torch

def forward(x):
    coarse = x.clamp(-448, 448).to(torch.float8_e4m3fn)
    return coarse.view(-1).view_as(x).to(x.dtype) * 2
"""


@pytest.mark.parametrize("body", [ROUND_TRIP, ROUND_TRIP.replace(" * 2", "")])
@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
def test_eight_bits_on_the_way_are_a_rounding_that_every_implementation_makes(body: str, dtype: str) -> None:
    task, draw = of(body, dtype, result="T")
    given = scenario(task, draw)
    expected = expectations(task, draw, given)
    eager = evaluate(task, draw.case, function(task.reference), given.copy().arguments, [], [])
    assert check_results(expected, eager) is None
    assert refuted_honest(Prepared(task=task, draw=draw, given=given, expected=expected)) is None
    unrounded = [given.arguments[0] * (2 if " * 2" in body else 1)]
    assert check_results(expected, unrounded) is not None


def test_whole_numbers_that_no_rounding_decides_have_one_right_value() -> None:
    x, expected = expected_of(*of("def forward(x):\n    return (x > 0).char()\n", "bf16"))
    assert expected[0].honest is None
    wrong = (x > 0).char()
    wrong[3, 7] += 1
    assert check_results(expected, [wrong]) is not None


def test_an_index_that_some_honest_run_gives_is_right_and_those_between_are_not() -> None:
    source = "def forward(x):\n    return x.argsort(-1)\n"
    _, (expected,) = expected_of(*of(source, "fp32", 1, 64, "int64"))
    five, seven, nine = (torch.full_like(expected.value, index) for index in (5, 7, 9))
    uncertain = replace(expected, value=five, honest=torch.stack([five, nine]))
    assert check_results([uncertain], [nine]) is None
    assert check_results([uncertain], [seven]) is not None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_weight_that_happens_to_be_representable_has_an_error_all_the_same(dtype: torch.dtype) -> None:
    """Who rounds before the division by the sum has another error than who rounds after it."""
    scores = torch.tensor([[0.0, -(2.0**-20)]]).log1p().repeat(4, 1)
    with Jitter(0, contrary=True):
        weights = torch.softmax(scores.float(), -1).to(dtype)
        doubled = (scores * 0 + 0.5).to(dtype)
    assert bool((weights != 0.5).any())
    assert bool((doubled == 0.5).all())
