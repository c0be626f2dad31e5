"""The least work of functions without formulas, counted from the operations that torch runs."""

from __future__ import annotations

from collections.abc import Callable

from warpwright.core.gpus.limit import Bound, physical_limit
from warpwright.core.gpus.table import gpu_named
from warpwright.core.task import Role, Task, Work

Sample = Callable[..., Task]
AMOUNTS = "functions/amounts.py"
REFERENCE = "functions/reference.py"


def work(task: Task) -> Work:
    found = task.cases_of(Role.TIME)[0].work
    assert found is not None
    return found


def test_a_product_counts_its_operations_in_the_precision_of_its_operands(sample: Sample) -> None:
    task = sample(f"{REFERENCE}:product", "8192,8192:bf16", "8192,8192:bf16")
    limit = physical_limit(task.work, task.cases_of(Role.TIME)[0], gpu_named("h100"))
    assert limit is not None
    assert limit.bound_by is Bound.MATRIX
    assert 1.0e-3 < limit.seconds < 1.3e-3
    assert (work(task).matrix, work(task).precision) == (2 * 8192**3, "bf16")


def test_what_is_read_counts_once_for_each_part(sample: Sample) -> None:
    assert work(sample(f"{AMOUNTS}:first_half", "64,1000:fp32")).reads == 64 * 500 * 4
    assert work(sample(f"{AMOUNTS}:gated", "64,1000:fp32")).reads == 64 * 1000 * 4
    assert work(sample(f"{REFERENCE}:softmax", "64,1000:bf16")).reads == 64 * 1000 * 2


def test_rows_that_indices_select_are_not_compulsory(sample: Sample) -> None:
    assert work(sample(f"{REFERENCE}:embed", "1000,64:fp32", "7:int64<1000")).reads == 7 * 8


def test_an_argument_on_which_nothing_depends_need_not_be_read(sample: Sample) -> None:
    assert work(sample(f"{AMOUNTS}:always_zero", "64,100:fp32", "64,100:fp32")).reads == 64 * 100 * 4


def test_a_product_with_a_diagonal_counts_nothing(sample: Sample) -> None:
    assert work(sample(f"{AMOUNTS}:scaled_rows", "64:fp32", "64,64:fp32")).matrix == 0
