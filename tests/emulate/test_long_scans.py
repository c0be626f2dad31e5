"""Running sums along rows so long that several blocks share each: the tasks are checked on shorter ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpwright.compose import plan as plan_of
from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Evidence, Verdict
from warpwright.core.task import Case, Role
from warpwright.tasks import load
from warpwright.verify.emulate import EmulateRung
from warpwright.verify.ladder import climb

FIRST_BLOCKS = "std::min<int64_t>(count, 4 * processors)"


def evidence(name: str, dims: dict[str, int], dtype: str, *changes: tuple[str, str]) -> Evidence:
    """Of the composed source, changed so. Cases are drawn from the task's own: it is given this one alone."""
    (task,) = load(name)
    long = Case(name="long", role=Role.CHECK, dims=dims, dtype=dtype)
    plan = plan_of(task)
    source = plan.write(plan.default())
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    (found,) = climb(replace(task, cases=(long,)), Candidate(source=source), ladder=[EmulateRung()]).evidence
    assert "long" in str(found.facts["cases"])
    return found


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "dims", "dtype"),
    [
        ("modern/cumsum:forward", {"N": 2, "D": 33004}, "fp32"),
        ("modern/cumsum:backward", {"N": 3, "D": 16392}, "bf16"),
        ("modern/cumsum:forward", {"N": 1, "D": 24577}, "fp16"),
    ],
)
def test_pieces_of_long_rows_hold_and_so_do_rows_without_packs(name: str, dims: dict[str, int], dtype: str) -> None:
    found = evidence(name, dims, dtype)
    assert found.verdict is Verdict.HOLDS, found.counterexample or found.reason


@pytest.mark.timeout(900)
def test_blocks_that_take_many_pieces_each_hold() -> None:
    found = evidence("modern/cumsum:backward", {"N": 2, "D": 33008}, "fp16", (FIRST_BLOCKS, "2"))
    assert found.verdict is Verdict.HOLDS, found.counterexample or found.reason


@pytest.mark.timeout(900)
def test_pieces_that_go_by_the_numbers_of_blocks_are_refuted() -> None:
    first = ("drawn[1] = atomicAdd(published + count, 1ull)", "drawn[1] = blockIdx.x")
    others = ("threadIdx.x == 0 ? atomicAdd(published + count, 1ull) : 0", "number + gridDim.x")
    found = evidence("modern/cumsum:forward", {"N": 1, "D": 33008}, "fp32", first, others)
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample is not None
    assert found.counterexample.kind == "waits-for-unbegun"


@pytest.mark.timeout(900)
def test_sums_of_earlier_pieces_are_missed_where_they_are_left_out() -> None:
    left_out = ("start + sums[item][k]", "(warp > 0 ? below : 0.0f) + sums[item][k]")
    found = evidence("modern/cumsum:forward", {"N": 1, "D": 16384}, "fp32", left_out)
    assert found.verdict is Verdict.REFUTED
