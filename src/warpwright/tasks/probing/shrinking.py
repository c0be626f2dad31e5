"""Which sizes of a function may be smaller, found by trying, and small cases made of them.

A size is free if the function still runs when every dimension of that extent gets another value, and so does every
bound of whole numbers that equals it. Extents may agree by accident, so leading dimensions and others are tried apart,
and where neither will do, each dimension counted from the last.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from warpwright.core.errors import UsageError
from warpwright.tasks.probing.observing import Subject
from warpwright.tasks.probing.values import elements
from warpwright.tasks.seen import Purpose, Run, Seen, TensorSeen

_LADDER = (1, 2, 3, 7, 17, 33, 67)
_SMALL = 2**16
_CASES, _WITNESSES, _ATTEMPTS = 5, 4, 40


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


def small_runs(subject: Subject, given: tuple[Seen, ...]) -> list[Run]:
    """Small cases, the most telling first, and witnesses for the formulas that follow from them."""
    choices = _proved(subject, given, _free(subject, given))
    found: list[Run] = []
    for sizes in _combinations(choices):
        arguments = resized(given, sizes)
        run = attempted(subject, arguments)
        if run is None or any(run.arguments == other.arguments for other in found):
            continue
        small = elements((*arguments, *run.outputs)) <= _SMALL and subject.bears(arguments)
        wanted = small and sum(other.purpose is Purpose.SMALL for other in found) < _CASES
        found.append(replace(run, purpose=Purpose.SMALL if wanted else Purpose.WITNESS))
        if len(found) == _CASES + _WITNESSES:
            break
    return found


def attempted(subject: Subject, arguments: tuple[Seen, ...]) -> Run | None:
    """The run, if there is one and it computes something."""
    try:
        run = subject.run(arguments, Purpose.SMALL)
    except (RuntimeError, ValueError, IndexError, TypeError, ArithmeticError, AssertionError, UsageError):
        return None
    return run if all(math.prod(output.shape) for output in run.outputs) else None


def resized(arguments: tuple[Seen, ...], sizes: Sizes) -> tuple[Seen, ...]:
    return tuple(_resized(seen, sizes) if isinstance(seen, TensorSeen) else seen for seen in arguments)


def _resized(seen: TensorSeen, sizes: Sizes) -> TensorSeen:
    shape = tuple(
        next((value for size, value in sizes.items() if size.is_of(seen, axis)), extent)
        for axis, extent in enumerate(seen.shape)
    )
    bounds = [seen.below, *(value for size, value in sizes.items() if size.extent == seen.below and size.axis is None)]
    return replace(seen, shape=shape, below=None if seen.below is None else min(filter(None, bounds)))


def _free(subject: Subject, given: tuple[Seen, ...]) -> Choices:
    """Sizes that may change, with the values that work. What is found to be free stays small while the next is tried,
    the largest first: a run costs as much as its longest loop."""
    found: Choices = {}
    tensors = [seen for seen in given if isinstance(seen, TensorSeen)]
    for extent in sorted({extent for seen in tensors for extent in seen.shape if extent > 1}, reverse=True):
        for sizes in _readings(extent, max(len(seen.shape) for seen in tensors)):
            if all(size.extent != extent for size in found):
                for size in sizes:
                    found |= _working(subject, given, size, found)
    return found


def _readings(extent: int, most: int) -> Iterator[list[Size]]:
    """What may be meant by an extent, the likeliest first."""
    yield [Size(extent=extent, others=False), Size(extent=extent, leading=False)]
    yield [Size(extent=extent)]
    yield [Size(extent=extent, axis=-number) for number in range(1, most + 1)]


def _working(subject: Subject, given: tuple[Seen, ...], size: Size, free: Choices) -> Choices:
    """Smaller values that work, fractions of the extent if no others do (heads and groups must divide it).

    That one works proves nothing: it broadcasts against anything.
    """
    settled = _least(free)
    before = resized(given, settled)
    for ladder in (_LADDER, sorted({size.extent // 8, size.extent // 4, size.extent // 2})):
        smaller = [value for value in ladder if 1 <= value < size.extent]
        values = [value for value in smaller if _works(subject, before, resized(given, {**settled, size: value}))]
        if any(value > 1 for value in values):
            return {size: values}
    return {}


def _proved(subject: Subject, given: tuple[Seen, ...], free: Choices) -> Choices:
    """Without data a size may seem free that is none, such as the channels of a transposed convolution."""
    without = ({other: free[other] for other in free if other != size} for size in free)
    for choices in (free, *without):
        arguments = resized(given, _least(choices))
        if choices and elements(arguments) <= _SMALL and subject.bears(arguments):
            return choices
    return free


def _least(free: Choices) -> Sizes:
    return {size: min(value for value in values if value > 1) for size, values in free.items()}


def _works(subject: Subject, before: tuple[Seen, ...], after: tuple[Seen, ...]) -> bool:
    return _shapes(before) != _shapes(after) and attempted(subject, after) is not None


def _shapes(arguments: tuple[Seen, ...]) -> list[tuple[int, ...]]:
    return [seen.shape for seen in arguments if isinstance(seen, TensorSeen)]


def _combinations(choices: Choices) -> Iterator[Sizes]:
    if not choices:
        return
    generator = random.Random(0)
    for rank in (2, 0, 1):
        yield {size: values[min(rank, len(values) - 1)] for size, values in choices.items()}
    for _ in range(_ATTEMPTS):
        yield {size: generator.choice(values) for size, values in choices.items()}
