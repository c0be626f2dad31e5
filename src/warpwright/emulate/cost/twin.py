"""Scales a case down to a twin: the same kernels on fewer rows, small enough to be emulated.

Only sizes in proportion to the work are reduced, the outermost first. The last size of a tensor is kept, because
kernels are built around rows; products are built around tiles, so sizes of their results may shrink as well. Whether
the twin is launched in the same way is checked when it runs.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from warpwright.core.calls import arguments, results
from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import UsageError
from warpwright.core.formula import evaluate
from warpwright.core.signature import TensorSpec, flatten
from warpwright.core.task import Case, Role, Size, Task, TensorArg, sizes

_LEAST, _LEAST_OF_PRODUCTS, _LEAST_OF_TABLES = 8, 256, 512
"""The least number of rows, the least tile sizes and the least table length that are kept."""
_WORTH = 0.95
"""A step that keeps more than this fraction of the bytes is not taken."""
_SAME = 0.05
"""The tolerance for work in proportion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """A size that may be halved, and the least that must be left of it and related sizes together."""

    name: str
    kin: tuple[str, ...]
    least: int
    odd: bool = False
    """Whether an odd size may be halved too, as for tables, whose exact length does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    case: Case
    times: int
    """The factor between the original's work and the twin's."""


def twin_of(task: Task, case: Case, most_bytes: int) -> Twin:
    """A twin of at most `most_bytes`, or the smallest valid one."""
    order = _sizes(task, case)
    twin = Twin(case=replace(case, name=f"{case.name}-twin", role=Role.CHECK), times=1)
    while tensor_bytes(task, twin.case) > most_bytes:
        smaller = next((found for size in order if (found := _halved(task, twin, size))), None)
        if smaller is None:
            break
        twin = smaller
    return twin


def tensor_bytes(task: Task, case: Case) -> int:
    """The bytes of the arguments and results of a case."""
    given = [tensor for spec in arguments(task, case) for tensor in flatten(spec)]
    return sum(_bytes(tensor) for tensor in (*given, *results(task, case)))


def _bytes(tensor: TensorSpec) -> int:
    return tensor.numel * dtype_named(tensor.dtype).bytes


def _sizes(task: Task, case: Case) -> list[_Size]:
    """The sizes in order of reduction: tables, then row counts from the outermost; in products the batch, then
    tiles."""
    tensors = [argument for argument in task.arguments if isinstance(argument, TensorArg)]
    shapes = [tuple(_named(size, case) for size in argument.shape) for argument in tensors]
    places = [(place, name) for shape in shapes for place, size in enumerate(shape) for name in size]
    names = dict.fromkeys(name for _, name in sorted(places))
    last = {name for shape in shapes if len(shape) > 1 for name in shape[-1]}
    rows = tuple(name for name in names if name not in last)
    if not task.work.matrix:
        tables = [name for name in rows if any(argument.below == name for argument in tensors)]
        kin = tuple(name for name in rows if name not in tables)
        short = [_Size(name=name, kin=(name,), least=_LEAST_OF_TABLES, odd=True) for name in tables]
        return [*short, *(_Size(name=name, kin=kin, least=_LEAST) for name in kin)]
    inner = {name for shape in shapes for size in shape[-2:] for name in size}
    shown = {str(size) for output in task.outputs for size in output.shape}
    batch = [_Size(name=name, kin=(name,), least=1) for name in rows if name not in inner]
    tiles = [name for name in names if name in inner and (name not in last or name in shown)]
    return [*batch, *(_Size(name=name, kin=(name,), least=_LEAST_OF_PRODUCTS) for name in tiles)]


def _named(size: Size, case: Case) -> list[str]:
    """The names in a formula, in order."""
    return [name for name in re.findall(r"[A-Za-z_]\w*", str(size)) if name in case.dims]


def _halved(task: Task, twin: Twin, size: _Size) -> Twin | None:
    """The twin with one size halved; None if it is not valid."""
    dims = twin.case.dims
    if (dims[size.name] % 2 and not size.odd) or math.prod(dims[name] for name in size.kin) // 2 < size.least:
        return None
    case = replace(twin.case, dims={**dims, size.name: dims[size.name] // 2})
    if _parts(case, size.name) != _parts(twin.case, size.name):
        return None
    try:
        times = _less(task, twin.case, case)
        shrinks = tensor_bytes(task, case) <= _WORTH * tensor_bytes(task, twin.case)
    except UsageError:
        return None
    return Twin(case=case, times=times * twin.times) if times and shrinks else None


def _parts(case: Case, size: str) -> set[str]:
    """The integer arguments that may divide a size, as the number of groups divides channels."""
    numbers = {name: value for name, value in case.scalars.items() if type(value) is int and value > 0}
    return {name for name, value in numbers.items() if case.dims[size] % value == 0}


def _less(task: Task, case: Case, smaller: Case) -> int | None:
    """The factor by which the work shrinks: 2, or 1 if only a table is shorter; None if not in proportion."""
    work = task.work
    whole, part = (_amount((work.matrix, work.scalar), found) for found in (case, smaller))
    if not whole:
        whole, part = (_amount((work.writes,), found) for found in (case, smaller))
    if not whole:
        return 2
    return next((times for times in (1, 2) if abs(part * times / whole - 1) <= _SAME), None)


def _amount(formulas: tuple[Size, ...], case: Case) -> float:
    return sum(float(evaluate(formula, sizes(case))) for formula in formulas)
