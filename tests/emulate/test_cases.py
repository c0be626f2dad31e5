"""The cases that hurt a kernel: at the edges of its own launches, within the ranges of its task."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.task import Case, Output, Range, Reference, Role, ScalarArg, Task, TensorArg
from warpwright.emulate.cases import edge_cases, granules

TASK = Task(
    name="rows",
    arguments=(TensorArg(name="x", shape=("N", "D")), ScalarArg(name="eps", values=(1e-5, 1e-3))),
    outputs=(Output(name="y", shape=("N", "D")),),
    cases=(Case(name="small", role=Role.CHECK, dims={"N": 3, "D": 7}),),
    ranges={"N": Range(low=1, high=64), "D": Range(low=2, high=6000)},
    reference=Reference(source=""),
)


def test_granules_are_sides_blocks_warps_and_vectors() -> None:
    assert {16, 8, 128, 32, 512, 1024, 4} <= set(granules([(16, 8, 1)]))
    assert 1 not in granules([(1, 1, 1)])


def test_both_sides_of_a_block_are_there() -> None:
    sizes = {case.dims["D"] for case in edge_cases(TASK, granules([(256, 1, 1)]), ["fp32"])}
    assert {255, 257} <= sizes


def test_wide_loops_run_more_than_once() -> None:
    roomy = edge_cases(TASK, granules([(256, 1, 1)]), ["fp32"])[0]
    assert roomy.dims["D"] == 6000


def test_types_and_scalars_take_turns() -> None:
    cases = edge_cases(TASK, granules([(256, 1, 1)]), ["fp16", "fp32"])
    assert {case.dtype for case in cases} == {"fp16", "fp32"}
    assert {case.scalars["eps"] for case in cases} == {1e-5, 1e-3}
    assert len({case.name for case in cases}) == len(cases)


def test_without_ranges_there_are_none() -> None:
    assert edge_cases(replace(TASK, ranges={}), granules([(256, 1, 1)]), ["fp32"]) == ()


@given(block=st.integers(1, 1024), multiple=st.integers(1, 16), low=st.integers(1, 50), width=st.integers(16, 500))
def test_every_case_is_a_fair_one(block: int, multiple: int, low: int, width: int) -> None:
    ranges = {"N": Range(choices=(1, 2, 33)), "D": Range(low=low, high=low + width, multiple=multiple)}
    for case in edge_cases(replace(TASK, ranges=ranges), granules([(block, 1, 1)]), ["fp32"]):
        assert case.dims["N"] in (1, 2, 33)
        assert low <= case.dims["D"] <= low + width
        assert case.dims["D"] % multiple == 0
