"""A smaller twin of a case: the same kernels on fewer rows, small enough to be run here.

Only sizes along which the work grows in proportion are made smaller, the outermost first. The last size of a tensor is
left alone, because rows are what kernels are built around; but products are built around tiles, and so a size of their
results may shrink as well. Whether the twin really is launched the same way is seen when it runs.
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
"""So many rows, so much of each size of a tile, are always left: what a block takes must fit without a rest."""
_WORTH = 0.95
"""A step that leaves more than this share of the bytes is not worth the rows it costs."""
_SAME = 0.05
"""Work that differs by no more than this share is in proportion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """A size that may be halved as long as so much is left of it and its kin together."""

    name: str
    kin: tuple[str, ...]
    least: int
    odd: bool = False
    """Whether an odd one may be halved too: of a table nothing depends on the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    case: Case
    times: int
    """How much more the original has of everything."""


def twin_of(task: Task, case: Case, most_bytes: int) -> Twin:
    """A twin of at most so many bytes, or as small as it can honestly be."""
    order = _sizes(task, case)
    twin = Twin(case=replace(case, name=f"{case.name}-twin", role=Role.CHECK), times=1)
    while tensor_bytes(task, twin.case) > most_bytes:
        smaller = next((found for size in order if (found := _halved(task, twin, size))), None)
        if smaller is None:
            break
        twin = smaller
    return twin


def tensor_bytes(task: Task, case: Case) -> int:
    """What the arguments and results of a case occupy."""
    given = [tensor for spec in arguments(task, case) for tensor in flatten(spec)]
    return sum(_bytes(tensor) for tensor in (*given, *results(task, case)))


def _bytes(tensor: TensorSpec) -> int:
    return tensor.numel * dtype_named(tensor.dtype).bytes


def _sizes(task: Task, case: Case) -> list[_Size]:
    """Tables first, then what counts rows, the outermost first; in products the batch, then what tiles cover."""
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
    """With half of one size; None where that is no honest twin."""
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
    """The whole numbers that a size may be dealt out by, as channels in groups are."""
    numbers = {name: value for name, value in case.scalars.items() if type(value) is int and value > 0}
    return {name for name, value in numbers.items() if case.dims[size] % value == 0}


def _less(task: Task, case: Case, smaller: Case) -> int | None:
    """By how much less is done: 2, or 1 where a table is only shorter; None for anything that is not in proportion."""
    work = task.work
    whole, part = (_amount((work.matrix, work.scalar), found) for found in (case, smaller))
    if not whole:
        whole, part = (_amount((work.writes,), found) for found in (case, smaller))
    if not whole:
        return 2
    return next((times for times in (1, 2) if abs(part * times / whole - 1) <= _SAME), None)


def _amount(formulas: tuple[Size, ...], case: Case) -> float:
    return sum(float(evaluate(formula, sizes(case))) for formula in formulas)
