"""The physical limit: the least time a piece of work can take on a GPU, and what holds it there.

`seconds` is the roofline: every byte moved once at full bandwidth, every operation at its peak. A better algorithm may
save operations, and results may still lie in the cache when the clock stops. `floor_seconds` counts the compulsory
reads alone: from a cold cache nothing honest is faster.
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
"""No GPU does more in a lifetime: a formula that gives more is a slip of the pen."""


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
    """The limit of one case; None where the task does not say what its work is."""
    if work == Work(precision=work.precision):
        return None
    reads, writes, matrix, scalar = (
        _amount(formula, case) for formula in (work.reads, work.writes, work.matrix, work.scalar)
    )
    precision = case.dtype if work.precision == "T" else work.precision
    bandwidth = gpu.bandwidth_gbs * 1e9
    return Limit(
        memory_seconds=(reads + writes) / bandwidth,
        matrix_seconds=matrix / (matrix_peak(gpu, precision, tf32=tf32) * 1e12),
        scalar_seconds=scalar / (_scalar_peak(gpu, precision) * 1e12),
        floor_seconds=reads / bandwidth,
    )


def traffic(work: Work, case: Case) -> float:
    """Bytes that must be moved, each once."""
    return _amount(work.reads, case) + _amount(work.writes, case)


# Each precision, and the wider ones of the matrix units that hold all its values.
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
    """TFLOP/s for products of this precision: the best units that lose nothing, or the CUDA cores."""
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
