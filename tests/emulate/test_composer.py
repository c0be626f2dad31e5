"""Composed sources run: right on the CPU, under the eyes of the emulator."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpwright.compose import plan as plan_of
from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Case, Role, Task
from warpwright.tasks import load
from warpwright.verify.emulate import EmulateRung
from warpwright.verify.ladder import climb


@pytest.mark.timeout(900)  # Nothing here depends on time; a machine under load must not turn slow into wrong.
@pytest.mark.parametrize(
    "name",
    ["modern/swiglu:forward", "modern/softmax:forward", "modern/bias_gelu:backward", "modern/int8_linear:forward"],
)
def test_a_composed_source_holds(name: str) -> None:
    (task,) = load(name)
    cases = [case for case in task.cases_of(Role.CHECK) if case.dtype == "fp32"][:3]
    plan = plan_of(task)
    candidate = Candidate(source=plan.write(plan.default()))
    (evidence,) = climb(task, candidate, cases, [EmulateRung()]).evidence
    assert evidence.verdict is Verdict.HOLDS, evidence.counterexample or evidence.reason


def holds_on(task: Task, case: Case, source: str) -> None:
    """Cases are drawn from the task's own: it is given this one alone."""
    (evidence,) = climb(replace(task, cases=(case,)), Candidate(source=source), ladder=[EmulateRung()]).evidence
    assert evidence.verdict is Verdict.HOLDS, evidence.counterexample or evidence.reason
    assert case.name in str(evidence.facts["cases"])


@pytest.mark.timeout(900)
def test_a_row_of_one_element_leaves_a_sum_and_its_length_that_agree() -> None:
    """Its gradient is what is left where the two cancel."""
    (task,) = load("modern/add_rmsnorm:training")
    edge = Case(name="N64-D1-fp16", role=Role.CHECK, dims={"N": 64, "D": 1}, dtype="fp16", scalars={"eps": 1e-6})
    plan = plan_of(task)
    holds_on(task, edge, plan.write(plan.default()))


@pytest.mark.timeout(900)
def test_rows_that_are_loaded_ahead_hold() -> None:
    """More rows than teams of threads, so that some team has a next row."""
    (task,) = load("modern/add_rmsnorm:backward")
    tall = Case(name="tall", role=Role.CHECK, dims={"N": 600, "D": 8}, dtype="fp32", scalars={"eps": 1e-6})
    plan = plan_of(task)
    source = plan.write({**plan.default(), "fused_ahead": 1})
    assert "if (row + teams < rows) load_row(row + teams);" in source
    holds_on(task, tall, source)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("direction", "columns", "kept"),
    [
        ("forward", 123_012, "packs > 30720 && packs <= 32768"),
        ("backward", 114_700, "packs > 28672 && packs <= 32768"),
        ("forward", 33_001, None),
    ],
)
def test_rows_that_a_cluster_keeps_hold_and_so_do_those_that_it_declines(
    direction: str, columns: int, kept: str | None
) -> None:
    """One row: some of these kernels are meant for as many as keep all multiprocessors busy."""
    (task,) = load(f"modern/log_softmax:{direction}")
    long = Case(name="long", role=Role.CHECK, dims={"N": 1, "D": columns}, dtype="fp32")
    plan = plan_of(task)
    source = plan.write(plan.default())
    assert kept is None or kept in source
    holds_on(task, long, source.replace(" && rows >= 33)", ")"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_rows_that_the_registers_of_a_cluster_keep_hold(dtype: str) -> None:
    (task,) = load("modern/group_norm_silu:forward")
    dims = {"N": 1, "C": 40, "H": 32, "W": 32, "groups": 1}
    scalars = {"groups": 1, "eps": 1e-5}
    long = Case(name="long", role=Role.CHECK, dims=dims, dtype=dtype, scalars=scalars)
    plan = plan_of(task)
    source = plan.write(plan.default())
    assert "if (packs > 8192 && packs <= 10240)\n" in source
    assert "if (packs > 4096 && packs <= 6144)\n" in source
    holds_on(task, long, source)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "columns", "dtype"),
    [("modern/log_softmax:forward", 32776, "fp32"), ("modern/log_softmax:backward", 32776, "bf16")],
)
def test_blocks_that_take_one_row_after_the_other_hold(name: str, columns: int, dtype: str) -> None:
    """One block for three rows: such kernels are meant for as many rows as there are multiprocessors, and more."""
    (task,) = load(name)
    long = Case(name="long", role=Role.CHECK, dims={"N": 3, "D": columns}, dtype=dtype)
    plan = plan_of(task)
    text = plan.write(plan.default())
    source = text.replace("!vectors || rows < 132 ||", "!vectors ||")
    source = source.replace("std::min<int64_t>(rows, gpu->multiProcessorCount)", "1")
    assert source.count("const int64_t blocks = 1;") == 1
    assert source.count("!vectors || packs <=") == 1
    holds_on(task, long, source)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("direction", "dtype"), [("forward", "fp32"), ("backward", "fp32"), ("backward", "bf16")])
def test_blocks_that_are_all_there_at_once_hold(direction: str, dtype: str) -> None:
    """On a GPU of two multiprocessors: on a real one such a sample has millions of elements."""
    (task,) = load(f"paper/layernorm:{direction}")
    dims = {"B": 1, "C": 1, "H": 250, "W": 256}
    long = Case(name="long", role=Role.CHECK, dims=dims, dtype=dtype, scalars={"eps": 1e-5})
    plan = plan_of(task)
    source = plan.write(plan.default())
    all_of_them = "const int64_t most = gpu->multiProcessorCount / rows;"
    assert source.count(all_of_them) == 1
    holds_on(task, long, source.replace(all_of_them, "const int64_t most = 2 / rows;"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "dims", "dtype"),
    [
        ("modern/matmul_small:forward", {"M": 1, "N": 1057, "K": 1032}, "bf16"),
        ("modern/matmul_small:forward", {"M": 1, "N": 1056, "K": 2052}, "fp32"),
        ("modern/int8_linear:forward", {"M": 1, "N": 1058, "K": 2064}, "fp16"),
    ],
)
def test_rows_of_a_matrix_that_are_taken_together_hold(name: str, dims: dict[str, int], dtype: str) -> None:
    """More than one round of columns, and rows that are missing at the end."""
    (task,) = load(name)
    tall = Case(name="tall", role=Role.CHECK, dims=dims, dtype=dtype)
    plan = plan_of(task)
    source = plan.write(plan.default())
    assert "if (!vectors || rows < 1056 || columns < 1024) return false;" in source
    holds_on(task, tall, source)
