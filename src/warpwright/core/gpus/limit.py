"""The physical limit: the least time that work can take on a GPU, and the resource that bounds it.

`seconds` is the roofline: every byte moved once at full bandwidth, every operation at peak. A better algorithm may save
operations, and results may still be in L2 when the clock stops. `floor_seconds` counts only the compulsory reads: with
a cold cache no honest kernel is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import UsageError
from warpwright.core.formula import evaluate
from warpwright.core.gpus.table import Gpu
from warpwright.core.task import Case, Size, Work, sizes

MOST = 1e30
"""A larger amount of work is a mistake in the formula."""


class Bound(StrEnum):
    MEMORY = "memory"
    MATRIX = "matrix"
    SCALAR = "scalar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    memory_seconds: float
    matrix_seconds: float
    scalar_seconds: float
    floor_seconds: float

    @property
    def seconds(self) -> float:
        return self._times[self.bound_by]

    @property
    def bound_by(self) -> Bound:
        return max(self._times, key=self._times.__getitem__)

    @property
    def _times(self) -> dict[Bound, float]:
        return {
            Bound.MEMORY: self.memory_seconds,
            Bound.MATRIX: self.matrix_seconds,
            Bound.SCALAR: self.scalar_seconds,
        }


def physical_limit(work: Work, case: Case, gpu: Gpu, *, tf32: bool = False) -> Limit | None:
    """Returns the limit of one case; None if neither the case nor its task states the work."""
    work = case.work or work
    if work == Work(precision=work.precision):
        return None
    matrix, scalar, precision = arithmetic(work, case)
    bandwidth = gpu.bandwidth_gbs * 1e9
    return Limit(
        memory_seconds=traffic(work, case) / bandwidth,
        matrix_seconds=matrix / (matrix_peak(gpu, precision, tf32=tf32) * 1e12),
        scalar_seconds=scalar / (_scalar_peak(gpu, precision) * 1e12),
        floor_seconds=_amount(work.reads, case) / bandwidth,
    )


def traffic(work: Work, case: Case) -> float:
    """Returns the bytes that must be moved, each counted once."""
    work = case.work or work
    return _amount(work.reads, case) + _amount(work.writes, case)


def arithmetic(work: Work, case: Case) -> tuple[float, float, str]:
    """Returns the operations that matrix units can perform, all others, and the precision of the former."""
    work = case.work or work
    precision = case.dtype if work.precision == "T" else work.precision
    return _amount(work.matrix, case), _amount(work.scalar, case), precision


# Each precision, with the wider precisions of matrix units that represent all its values.
_HELD_BY = {
    "fp64": ("fp64",),
    "fp32": (),
    "tf32": ("tf32",),
    "fp16": ("fp16", "tf32"),
    "bf16": ("bf16", "tf32"),
    "fp8": ("fp8", "fp16", "bf16", "tf32"),
    "int8": ("int8", "fp16", "tf32"),
}
_SAME_UNITS = {"e4m3": "fp8", "e5m2": "fp8", "uint8": "int8"}


def matrix_peak(gpu: Gpu, precision: str, *, tf32: bool = False) -> float:
    """Returns the peak in TFLOP/s for matrix products in a precision: the best units that lose nothing, or CUDA
    cores.
    """
    name = precision if precision in _HELD_BY else dtype_named(precision).name
    name = _SAME_UNITS.get(name, name)
    units = ("tf32",) if name == "fp32" and tf32 else _HELD_BY.get(name, ())
    return max(_scalar_peak(gpu, name), *(gpu.matrix.get(unit, 0.0) for unit in units), 0.0)


def _scalar_peak(gpu: Gpu, precision: str) -> float:
    return gpu.fp64 if precision == "fp64" else gpu.fp32


def _amount(formula: Size, case: Case) -> float:
    value = evaluate(formula, sizes(case))
    if not 0 <= value < MOST:
        raise UsageError(f"work '{formula}' gives {value} in case {case.name}, which is no amount of work")
    return float(value)
