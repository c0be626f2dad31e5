"""Few honest runs only accept: whatever they allow, all runs together allow."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwright.core.task import Case, Draw, Output, Reference, Role, Task, TensorArg
from warpwright.oracle.compare.results import check_in_steps, check_results
from warpwright.oracle.truth.expected import FEW_RUNS, HONEST_RUNS, expectations, scenario

SOURCES = {
    "norm": "def forward(x):\n    return x / (x.float().square().mean(-1, True) + 1e-3).sqrt().to(x.dtype)\n",
    "clipped": "def forward(x):\n    return (x.softmax(-1) - 0.1).relu()\n",
    "total": "def forward(x):\n    return x.sum(-1)\n",
}


def task_of(name: str) -> Task:
    shape = ("R",) if name == "total" else ("R", "D")
    return Task(
        name=name,
        arguments=(TensorArg(name="x", shape=("R", "D")),),
        outputs=(Output(name="y", shape=shape),),
        cases=(),
        reference=Reference(source=SOURCES[name]),
    )


def drawn(rows: int, columns: int, dtype: str, seed: int) -> Draw:
    return Draw(case=Case(name="c", role=Role.CHECK, dims={"R": rows, "D": columns}, dtype=dtype), seed=seed)


@settings(max_examples=60)
@given(
    name=st.sampled_from(sorted(SOURCES)),
    dtype=st.sampled_from(["fp32", "fp16", "bf16"]),
    rows=st.integers(1, 9),
    columns=st.sampled_from([1, 3, 40, 200]),
    seed=st.integers(0, 2**20),
    size=st.floats(0.0, 30.0),
)
def test_a_result_accepted_with_few_runs_is_accepted_with_all(name, dtype, rows, columns, seed, size):
    task, draw = task_of(name), drawn(rows, columns, dtype, seed)
    given_ = scenario(task, draw)
    few, whole = (expectations(task, draw, given_, runs) for runs in (FEW_RUNS, HONEST_RUNS))
    noise = torch.randn(whole[0].value.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    result = (whole[0].value + size * noise * whole[0].spread).to(given_.arguments[0].dtype)
    assert few[0].partial
    assert not whole[0].partial
    if check_results(few, [result]) is None:
        assert check_results(whole, [result]) is None


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_an_honest_result_is_accepted_with_few_runs(name):
    task, draw = task_of(name), drawn(8, 1000, "fp32", 3)
    given_, asked = scenario(task, draw), []

    def expecting(runs):
        asked.append(runs)
        return expectations(task, draw, given_, runs)

    scope: dict = {}
    exec(SOURCES[name], scope)
    assert check_in_steps(expecting, [scope["forward"](*given_.arguments)])[1] is None
    assert asked == [FEW_RUNS]


def test_a_wrong_result_is_compared_with_the_budget_of_all_runs():
    task, draw = task_of("norm"), drawn(8, 100, "fp32", 3)
    given_, asked = scenario(task, draw), []

    def expecting(runs):
        asked.append(runs)
        return expectations(task, draw, given_, runs)

    _, mismatch = check_in_steps(expecting, [torch.zeros(8, 100)])
    assert mismatch is not None
    assert asked == [FEW_RUNS, HONEST_RUNS]
