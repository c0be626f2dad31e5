"""Finds by trial which sizes of a function may be smaller.

A size is free if the function still runs when every dimension of that extent gets another value, and so does every
upper bound of integers that equals it. Extents may agree by accident, so leading dimensions and others are tried
separately, and if neither works, each dimension counted from the last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from warpwright.core.errors import UsageError
from warpwright.tasks.probing.child.observing import Subject
from warpwright.tasks.probing.child.values import elements
from warpwright.tasks.probing.seen import Purpose, Run, Seen, TensorSeen

SMALL = 2**16
"""The most elements of a run with data that takes almost no time."""
_LADDER = (1, 2, 3, 7, 17, 33, 67)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """An extent that may change: in leading dimensions, in others, in both, or in one."""

    extent: int
    leading: bool = True
    others: bool = True
    axis: int | None = None
    """The dimension counted from the last, which is -1."""

    def is_of(self, seen: TensorSeen, axis: int) -> bool:
        if self.axis is not None:
            return seen.shape[axis] == self.extent and axis - len(seen.shape) == self.axis
        return seen.shape[axis] == self.extent and (self.others if axis else self.leading)


Sizes = dict[Size, int]
Choices = dict[Size, list[int]]


def free_sizes(subject: Subject, given: tuple[Seen, ...]) -> Choices:
    """Returns the sizes that may change with the values that work, confirmed with data if that is cheap."""
    seeming = _seemingly_free(subject, given)
    if elements(resized(given, least(seeming))) > SMALL:  # omitting any of them would leave still more
        return seeming
    for choices in chain([seeming], _alternatives(subject, given, seeming)):
        arguments = resized(given, least(choices))
        if choices and elements(arguments) <= SMALL and subject.gives_finite_results(arguments):
            return choices
    return seeming


def attempted(subject: Subject, arguments: tuple[Seen, ...]) -> Run | None:
    """Returns the run; None if it fails or computes nothing."""
    try:
        run = subject.run(arguments, Purpose.SMALL)
    except (RuntimeError, ValueError, IndexError, TypeError, ArithmeticError, AssertionError, UsageError):
        return None
    return run if all(math.prod(output.shape) for output in run.outputs) else None


def resized(arguments: tuple[Seen, ...], sizes: Sizes) -> tuple[Seen, ...]:
    return tuple(_resized(seen, sizes) if isinstance(seen, TensorSeen) else seen for seen in arguments)


def shapes(arguments: tuple[Seen, ...]) -> list[tuple[int, ...]]:
    return [seen.shape for seen in arguments if isinstance(seen, TensorSeen)]


def _resized(seen: TensorSeen, sizes: Sizes) -> TensorSeen:
    shape = tuple(
        next((value for size, value in sizes.items() if size.is_of(seen, axis)), extent)
        for axis, extent in enumerate(seen.shape)
    )
    bounds = [seen.below, *(value for size, value in sizes.items() if size.extent == seen.below and size.axis is None)]
    return replace(seen, shape=shape, below=None if seen.below is None else min(filter(None, bounds)))


def _seemingly_free(subject: Subject, given: tuple[Seen, ...]) -> Choices:
    """Finds sizes that are free without data, the largest first. Free sizes stay small while the next is tried, since
    the cost of a run is that of its longest loop.
    """
    found: Choices = {}
    tensors = [seen for seen in given if isinstance(seen, TensorSeen)]
    for extent in sorted({extent for seen in tensors for extent in seen.shape if extent > 1}, reverse=True):
        for sizes in _readings(extent, given):
            if all(size.extent != extent for size in found):
                found |= _working_apart(subject, given, sizes, found)
    return found


def _readings(extent: int, given: tuple[Seen, ...]) -> Iterator[list[Size]]:
    """Yields the possible meanings of an extent, the most likely first."""
    yield [Size(extent=extent, others=False), Size(extent=extent, leading=False)]
    yield [Size(extent=extent)]
    yield _axes(extent, given)


def _axes(extent: int, given: tuple[Seen, ...]) -> list[Size]:
    most = max(len(seen.shape) for seen in given if isinstance(seen, TensorSeen))
    return [Size(extent=extent, axis=-number) for number in range(1, most + 1)]


def _working_apart(subject: Subject, given: tuple[Seen, ...], sizes: list[Size], free: Choices) -> Choices:
    """Returns those sizes that may change separately, besides the free ones."""
    found: Choices = {}
    for size in sizes:
        found |= _working(subject, given, size, {**free, **found})
    return found


def _working(subject: Subject, given: tuple[Seen, ...], size: Size, free: Choices) -> Choices:
    """Returns smaller values that work, or fractions of the extent if none do (heads and groups must divide it).

    The value one proves nothing, since it broadcasts against anything.
    """
    settled = least(free)
    before = resized(given, settled)
    for ladder in (_LADDER, sorted({size.extent // 8, size.extent // 4, size.extent // 2})):
        smaller = [value for value in ladder if 1 <= value < size.extent]
        values = [value for value in smaller if _works(subject, before, resized(given, {**settled, size: value}))]
        if any(value > 1 for value in values):
            return {size: values}
    return {}


def _alternatives(subject: Subject, given: tuple[Seen, ...], seeming: Choices) -> Iterator[Choices]:
    """Yields alternatives without a size that only seems free without data, such as the channels of a transposed
    convolution.

    Some dimensions of this size may still be free, whose extent agrees by accident.
    """
    for size in seeming:
        rest = _without(seeming, size)
        apart = _working_apart(subject, given, _axes(size.extent, given), rest)
        yield from ({**rest, **_without(apart, axis)} for axis in apart)
        yield rest


def _without(choices: Choices, size: Size) -> Choices:
    return {other: values for other, values in choices.items() if other != size}


def least(free: Choices) -> Sizes:
    """Returns the smallest value above one of each size: the stride of a dimension of size one is never used."""
    return {size: min(value for value in values if value > 1) for size, values in free.items()}


def _works(subject: Subject, before: tuple[Seen, ...], after: tuple[Seen, ...]) -> bool:
    return shapes(before) != shapes(after) and attempted(subject, after) is not None
