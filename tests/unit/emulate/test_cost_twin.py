"""Smaller twins of cases: rows stay as they are, work shrinks in proportion, and small cases are left alone."""

from __future__ import annotations

import pytest

from warpwright.core.formula import evaluate
from warpwright.core.task import Case, Role, Task, sizes
from warpwright.emulate.cost.twin import tensor_bytes, twin_of
from warpwright.tasks import all_tasks, load

SUITES = all_tasks()
MOST = 8 << 20


def task_named(name: str) -> Task:
    (task,) = load(name)
    return task


def operations(task: Task, case: Case) -> float:
    return sum(float(evaluate(formula, sizes(case))) for formula in (task.work.matrix, task.work.scalar))


@pytest.mark.parametrize("task", SUITES, ids=lambda task: task.key)
def test_every_time_case_has_a_twin_that_is_smaller_and_says_by_how_much(task: Task) -> None:
    for case in task.cases_of(Role.TIME):
        twin = twin_of(task, case, MOST)
        assert tensor_bytes(task, twin.case) <= max(tensor_bytes(task, case), MOST)
        assert twin.case.role is Role.CHECK
        whole, part = (operations(task, found) for found in (case, twin.case))
        assert part * twin.times == pytest.approx(whole, rel=0.15)


def test_rows_keep_their_length() -> None:
    softmax = task_named("modern/softmax:forward")
    case = next(case for case in softmax.cases_of(Role.TIME) if case.dims["D"] == 4096)
    twin = twin_of(softmax, case, MOST)
    assert twin.case.dims == {"N": 512, "D": 4096}
    assert twin.times == 64


def test_products_keep_their_depth() -> None:
    matmul = task_named("modern/matmul:forward")
    twin = twin_of(matmul, matmul.cases_of(Role.TIME)[0], MOST)
    assert twin.case.dims["K"] == 4096
    assert twin.case.dims["M"] >= 256
    assert twin.case.dims["N"] >= 256


def test_a_small_case_is_its_own_twin() -> None:
    softmax = task_named("modern/softmax:forward")
    case = softmax.cases_of(Role.CHECK)[0]
    twin = twin_of(softmax, case, MOST)
    assert (twin.case.dims, twin.times) == (case.dims, 1)


def test_a_table_shrinks_without_less_being_done() -> None:
    embedding = task_named("modern/embedding:forward")
    case = embedding.cases_of(Role.TIME)[0]
    twin = twin_of(embedding, case, MOST)
    assert tensor_bytes(embedding, twin.case) <= 2 * MOST
    assert twin.times == case.dims["N"] // twin.case.dims["N"]


def test_rows_of_several_sizes_count_together_and_what_grows_faster_is_left_alone() -> None:
    attention = task_named("modern/gqa_attention:forward")
    case = attention.cases_of(Role.TIME)[0]
    twin = twin_of(attention, case, MOST)
    assert twin.case.dims["S"] == case.dims["S"]
    assert twin.times > 1


def test_channels_that_come_in_groups_still_do() -> None:
    task = task_named("modern/group_norm_silu:backward")
    for case in task.cases_of(Role.TIME):
        twin = twin_of(task, case, MOST)
        assert twin.case.dims["C"] % int(case.scalars["groups"]) == 0
