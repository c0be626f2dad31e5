"""Which sizes of a function may be smaller, found by trying.

A size is free if the function still runs when every dimension of that extent gets another value, and so does every
bound of whole numbers that equals it. Extents may agree by accident, so leading dimensions and others are tried apart,
and where neither will do, each dimension counted from the last.
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
"""Elements up to which a run with data costs next to nothing."""
_LADDER = (1, 2, 3, 7, 17, 33, 67)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """An extent that may change: in leading dimensions, in others, in both, or in one."""

    extent: int
    leading: bool = True
    others: bool = True
    axis: int | None = None
    """Counted from the last, which is -1."""

    def is_of(self, seen: TensorSeen, axis: int) -> bool:
        if self.axis is not None:
            return seen.shape[axis] == self.extent and axis - len(seen.shape) == self.axis
        return seen.shape[axis] == self.extent and (self.others if axis else self.leading)


Sizes = dict[Size, int]
Choices = dict[Size, list[int]]


def free_sizes(subject: Subject, given: tuple[Seen, ...]) -> Choices:
    """Sizes that may change, with the values that work, proved with data if that is cheap."""
    seeming = _seeming(subject, given)
    if elements(resized(given, least(seeming))) > SMALL:  # with any of them left out there would be still more
        return seeming
    for choices in chain([seeming], _doubts(subject, given, seeming)):
        arguments = resized(given, least(choices))
        if choices and elements(arguments) <= SMALL and subject.bears(arguments):
            return choices
    return seeming


def attempted(subject: Subject, arguments: tuple[Seen, ...]) -> Run | None:
    """The run, if there is one and it computes something."""
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


def _seeming(subject: Subject, given: tuple[Seen, ...]) -> Choices:
    """What is found to be free stays small while the next is tried, the largest first: a run costs as much as its
    longest loop."""
    found: Choices = {}
    tensors = [seen for seen in given if isinstance(seen, TensorSeen)]
    for extent in sorted({extent for seen in tensors for extent in seen.shape if extent > 1}, reverse=True):
        for sizes in _readings(extent, given):
            if all(size.extent != extent for size in found):
                found |= _working_apart(subject, given, sizes, found)
    return found


def _readings(extent: int, given: tuple[Seen, ...]) -> Iterator[list[Size]]:
    """What may be meant by an extent, the likeliest first."""
    yield [Size(extent=extent, others=False), Size(extent=extent, leading=False)]
    yield [Size(extent=extent)]
    yield _axes(extent, given)


def _axes(extent: int, given: tuple[Seen, ...]) -> list[Size]:
    most = max(len(seen.shape) for seen in given if isinstance(seen, TensorSeen))
    return [Size(extent=extent, axis=-number) for number in range(1, most + 1)]


def _working_apart(subject: Subject, given: tuple[Seen, ...], sizes: list[Size], free: Choices) -> Choices:
    """Those of the sizes that may change each by itself, beside what is free already."""
    found: Choices = {}
    for size in sizes:
        found |= _working(subject, given, size, {**free, **found})
    return found


def _working(subject: Subject, given: tuple[Seen, ...], size: Size, free: Choices) -> Choices:
    """Smaller values that work, fractions of the extent if no others do (heads and groups must divide it).

    That one works proves nothing: it broadcasts against anything.
    """
    settled = least(free)
    before = resized(given, settled)
    for ladder in (_LADDER, sorted({size.extent // 8, size.extent // 4, size.extent // 2})):
        smaller = [value for value in ladder if 1 <= value < size.extent]
        values = [value for value in smaller if _works(subject, before, resized(given, {**settled, size: value}))]
        if any(value > 1 for value in values):
            return {size: values}
    return {}


def _doubts(subject: Subject, given: tuple[Seen, ...], seeming: Choices) -> Iterator[Choices]:
    """Without data a size may seem free that is none, such as the channels of a transposed convolution.

    It need not be false in all of its dimensions: those may be free that agree with the false one by accident.
    """
    for size in seeming:
        rest = _without(seeming, size)
        apart = _working_apart(subject, given, _axes(size.extent, given), rest)
        yield from ({**rest, **_without(apart, axis)} for axis in apart)
        yield rest


def _without(choices: Choices, size: Size) -> Choices:
    return {other: values for other, values in choices.items() if other != size}


def least(free: Choices) -> Sizes:
    """The smallest value above one of each: the stride of a dimension of one is never used."""
    return {size: min(value for value in values if value > 1) for size, values in free.items()}


def _works(subject: Subject, before: tuple[Seen, ...], after: tuple[Seen, ...]) -> bool:
    return shapes(before) != shapes(after) and attempted(subject, after) is not None
