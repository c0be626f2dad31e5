"""Chooses edge cases of a kernel: sizes just below and just above the sizes of its blocks, warps, vectors and tiles.

Kernels fail at the edges of their blocks, warps, vectors and tiles, which differ from kernel to kernel. They are read
off its launches; the sizes must lie in the ranges that the task declares, so that every case is fair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from warpwright.core.calls import elements
from warpwright.core.launch.plan import Triple
from warpwright.core.task import Case, Plain, Range, Role, ScalarArg, Task

WARP = 32
_VECTORS = (4, 8)
_MOST_ELEMENTS = 1 << 16
"""The largest number of elements of all tensors of a case together: small cases show edge errors as well as large
ones."""


def edge_cases(task: Task, sizes: Sequence[int], dtypes: Sequence[str], most: int = 8) -> tuple[Case, ...]:
    """At most `most` cases: a large one, a tall one, then the edges of these sizes; none if the task has no ranges."""
    if not task.ranges or not dtypes:
        return ()
    chosen: dict[tuple[tuple[str, int], ...], Case] = {}
    for dims in (_roomy(task, dtypes), _tall(task, dtypes), *_edges(task, sizes)):
        case = _case(task, dims, len(chosen), dtypes)
        if _fits(task, case):
            chosen.setdefault(tuple(sorted(dims.items())), case)
        if len(chosen) == most:
            break
    return tuple(chosen.values())


def granules(blocks: Iterable[Triple]) -> tuple[int, ...]:
    """The sizes by which such launches divide their work: blocks, their sides, warps, tiles, and blocks of vectors."""
    shapes = list(blocks)
    whole = [math.prod(shape) for shape in shapes]
    sides = [side for shape in shapes for side in shape]
    vectors = [block * width for width in _VECTORS for block in whole]
    found = dict.fromkeys([*sides, *whole, WARP, *vectors, *_VECTORS])
    return tuple(size for size in found if size > 1)


def _roomy(task: Task, dtypes: Sequence[str]) -> dict[str, int]:
    """Large sizes that vectors divide, on which vectorised loops run more than once."""
    return _grown(task, _innermost_first(task), dtypes)


def _tall(task: Task, dtypes: Sequence[str]) -> dict[str, int]:
    """Many rows of the least length, some of which have only small or only negative elements."""
    return _grown(task, _innermost_first(task)[:0:-1], dtypes)


def _grown(task: Task, names: Sequence[str], dtypes: Sequence[str]) -> dict[str, int]:
    """The least sizes, except that the named ones are made as large as possible, one after the other."""
    dims = {name: _nearest(limits, 1) for name, limits in task.ranges.items()}
    for name in names:
        tried = ({**dims, name: size} for size in _large(task.ranges[name]))
        dims = next((larger for larger in tried if _fits(task, _case(task, larger, 0, dtypes))), dims)
    return dims


def _large(limits: Range) -> Iterator[int]:
    """Yields sizes from the largest down, each about half of the one before."""
    if limits.choices:
        yield from sorted(limits.choices, reverse=True)
        return
    step, size = math.lcm(limits.multiple, _VECTORS[-1]), limits.high
    while size - size % step >= max(limits.low, step):
        yield size - size % step
        size //= 2


def _edges(task: Task, sizes: Sequence[int]) -> Iterator[dict[str, int]]:
    """Yields for each edge: the innermost size alone with the others least, then every size that allows it."""
    least = {name: _nearest(limits, 1) for name, limits in task.ranges.items()}
    order = _innermost_first(task)
    for size in sizes:
        for value in (size - 1, size + 1):
            able = [name for name in order if value >= 1 and _allows(task.ranges[name], value)]
            if able:
                yield {**least, able[0]: value}
                yield {**least, **dict.fromkeys(able, value)}


def _innermost_first(task: Task) -> list[str]:
    """The names of sizes, those of the last dimensions of tensors first."""
    shapes = [argument.shape for argument in task.arguments if not isinstance(argument, ScalarArg)]
    named = [size for shape in shapes for size in reversed(shape) if size in task.ranges]
    return [str(name) for name in dict.fromkeys([*named, *task.ranges])]


def _allows(limits: Range, value: int) -> bool:
    if limits.choices:
        return value in limits.choices
    return limits.low <= value <= limits.high and value % limits.multiple == 0


def _nearest(limits: Range, value: int) -> int:
    if limits.choices:
        return min(limits.choices, key=lambda choice: abs(choice - value))
    lowest = -(-limits.low // limits.multiple) * limits.multiple
    return max(lowest, value - value % limits.multiple)


def _case(task: Task, dims: dict[str, int], number: int, dtypes: Sequence[str]) -> Case:
    scalars: dict[str, Plain | tuple[Plain, ...]] = {
        argument.name: argument.values[number % len(argument.values)]
        for argument in task.arguments
        if isinstance(argument, ScalarArg)
    }
    dtype = dtypes[number % len(dtypes)]
    name = f"edge-{'-'.join(f'{key}{value}' for key, value in dims.items())}-{dtype}"
    role = Role.CHECK if task.is_general else Role.ENVELOPE
    return Case(name=name, role=role, dims=dims, dtype=dtype, scalars=scalars)


def _fits(task: Task, case: Case) -> bool:
    return elements(task, case) <= _MOST_ELEMENTS
