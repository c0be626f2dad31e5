"""The physical limit: the binding resource, the precision used, and monotonicity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.errors import UsageError
from warpwright.core.gpus.limit import Bound, Limit, matrix_peak, physical_limit
from warpwright.core.gpus.table import GPUS
from warpwright.core.task import Case, Role, Work

H200, T4, A100 = GPUS["h200"], GPUS["t4"], GPUS["a100-80gb"]
PRODUCT = Work(reads="(M*K+K*N)*e", writes="M*N*e", matrix="2*M*N*K")


def case(dtype: str = "fp32", **dims: int) -> Case:
    return Case(name="c", role=Role.TIME, dims=dims, dtype=dtype)


def limit_of(work: Work, where: Case, tf32: bool = False) -> Limit:
    found = physical_limit(work, where, H200, tf32=tf32)
    assert found is not None
    return found


def test_a_copy_is_bound_by_memory() -> None:
    limit = limit_of(Work(reads="N*e", writes="N*e", scalar="N"), case(N=2**28))
    assert limit.bound_by is Bound.MEMORY
    assert limit.seconds == pytest.approx(2 * 2**28 * 4 / 4.8e12)
    assert limit.floor_seconds == pytest.approx(limit.seconds / 2)


def test_a_large_product_is_bound_by_its_matrix_units() -> None:
    limit = limit_of(PRODUCT, case("bf16", M=8192, N=8192, K=8192))
    assert limit.bound_by is Bound.MATRIX
    assert limit.seconds == pytest.approx(2 * 8192**3 / 989.4e12)


def test_strict_fp32_products_run_on_cuda_cores() -> None:
    square = case("fp32", M=4096, N=4096, K=4096)
    strict, loose = limit_of(PRODUCT, square), limit_of(PRODUCT, square, tf32=True)
    assert strict.matrix_seconds / loose.matrix_seconds == pytest.approx(494.7 / 66.9)


def test_the_precision_of_the_work_overrides_that_of_the_case() -> None:
    quantised = Work(matrix="2*N", precision="e4m3")
    assert limit_of(quantised, case("bf16", N=10)).matrix_seconds == pytest.approx(20 / 1978.9e12)


@pytest.mark.parametrize(
    ("gpu", "precision", "peak"),
    [
        (T4, "bf16", T4.fp32),  # no unit of a T4 holds every bf16 value
        (T4, "fp16", 65.0),
        (A100, "e4m3", 312.0),  # widened to fp16
        (A100, "fp64", 19.5),
        (T4, "fp64", T4.fp64),
        (H200, "uint8", 1978.9),
        (H200, "int32", H200.fp32),
        (H200, "float32", H200.fp32),
    ],
)
def test_the_fastest_units_without_loss_of_precision_count(gpu, precision: str, peak: float) -> None:
    assert matrix_peak(gpu, precision) == peak


def test_unknown_work_has_no_limit() -> None:
    assert physical_limit(Work(), case(N=1), H200) is None
    assert physical_limit(Work(precision="fp8"), case(N=1), H200) is None


@pytest.mark.parametrize("formula", ["-N", "10**16 ** 16", "1e308*10"])
def test_invalid_amounts_of_work_are_usage_errors(formula: str) -> None:
    with pytest.raises(UsageError, match=r"no amount of work|cannot be computed|too large|out of range"):
        physical_limit(Work(reads=formula), case(N=3), H200)


def test_an_unknown_precision_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="unknown dtype"):
        physical_limit(Work(matrix=1, precision="fp3"), case(), H200)


amounts = st.integers(min_value=0, max_value=10**15)


@given(amounts, amounts, amounts, amounts, st.sampled_from(sorted(GPUS)), st.sampled_from(["fp32", "fp16", "bf16"]))
def test_the_limit_is_the_slowest_part_and_the_floor_is_below_it(
    reads: int, writes: int, matrix: int, scalar: int, name: str, dtype: str
) -> None:
    work = Work(reads=reads, writes=writes, matrix=matrix, scalar=scalar)
    limit = physical_limit(work, case(dtype), GPUS[name])
    if work == Work():
        assert limit is None
        return
    assert limit is not None
    assert limit.seconds == max(limit.memory_seconds, limit.matrix_seconds, limit.scalar_seconds) > 0
    assert limit.floor_seconds <= limit.seconds


@given(amounts, amounts, st.integers(min_value=1, max_value=1000))
def test_more_work_never_takes_less(reads: int, matrix: int, more: int) -> None:
    small = limit_of(Work(reads=reads + 1, matrix=matrix), case())
    large = limit_of(Work(reads=reads + 1 + more, matrix=matrix * more), case())
    assert large.seconds >= small.seconds
