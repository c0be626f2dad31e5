"""Hidden cases: determined by the secret, and always within the declared ranges."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.hidden import hidden_cases
from warpwright.core.task import Case, Output, Range, Reference, Role, ScalarArg, Task, TensorArg

TASK = Task(
    name="t",
    dtypes=("fp32", "bf16"),
    arguments=(TensorArg(name="x", shape=("N", "D")), ScalarArg(name="eps", values=(1e-5, 1e-6))),
    outputs=(Output(name="y", shape=("N", "D")),),
    cases=(Case(name="c", role=Role.CHECK, dims={"N": 1, "D": 1}, scalars={"eps": 1e-5}),),
    ranges={"N": Range(low=1, high=4096), "D": Range(choices=(64, 128))},
    reference=Reference(source=""),
)
seeds = st.integers(min_value=0)


@given(seeds, st.integers(0, 20))
def test_the_same_secret_gives_the_same_cases(secret: int, count: int) -> None:
    cases = hidden_cases(TASK, secret, count)
    assert cases == hidden_cases(TASK, secret, count)
    assert len({case.name for case in cases}) == len(cases) == count


def test_another_secret_or_task_gives_other_cases() -> None:
    first = hidden_cases(TASK, 1, 10)
    assert first != hidden_cases(TASK, 2, 10)
    assert first != hidden_cases(replace(TASK, name="u"), 1, 10)


def test_more_cases_begin_with_the_same_ones() -> None:
    assert hidden_cases(TASK, 1, 10)[:3] == hidden_cases(TASK, 1, 3)


@given(seeds, st.integers(1, 300), st.integers(0, 4000), st.integers(1, 64))
def test_sizes_stay_within_their_range(secret: int, low: int, span: int, multiple: int) -> None:
    low *= multiple
    limits = Range(low=low, high=low + span * multiple, multiple=multiple)
    task = replace(TASK, ranges={"N": limits, "D": TASK.ranges["D"]})
    for case in hidden_cases(task, secret, 5):
        assert case.role is Role.HIDDEN
        assert limits.low <= case.dims["N"] <= limits.high
        assert case.dims["N"] % multiple == 0
        assert case.dims["D"] in (64, 128)
        assert case.dtype in task.dtypes
        assert case.scalars["eps"] in (1e-5, 1e-6)


def test_both_small_and_large_sizes_occur() -> None:
    drawn = [case.dims["N"] for case in hidden_cases(TASK, 0, 200)]
    assert min(drawn) < 16
    assert max(drawn) > 1024


def test_without_ranges_there_are_no_hidden_cases() -> None:
    assert hidden_cases(replace(TASK, ranges={}), 1, 5) == ()
