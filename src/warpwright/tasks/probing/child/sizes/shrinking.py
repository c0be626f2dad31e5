"""Cases that a CPU can check: reductions of the given sizes, and small sizes."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from warpwright.tasks.probing.child.observing import Subject
from warpwright.tasks.probing.child.sizes.sizing import SMALL, Choices, Size, Sizes, attempted, least, resized, shapes
from warpwright.tasks.probing.child.values import elements
from warpwright.tasks.probing.seen import Purpose, Run, Seen, TensorSeen

_CASES, _WITNESSES, _ATTEMPTS = 5, 4, 40
_USEFUL, _NECESSARY = 2**20, 2**25
"""The most elements of all cases together if none is small: of useful ones, and of necessary ones."""
_MOST_ELEMENTS, _FURTHER, _MOST_MULTIPLICATIONS = 2**21, 2**19, 2**25
"""The most elements of a reduced case, of its second and later ones, and multiplications: the emulator takes seconds
for each.
"""
_DIVISORS = (256, 128, 64, 32, 16, 8, 4, 2)
_STAND_INS, _SETTINGS = 4, 3
"""The number of reductions of one given run, and of given runs with reductions."""


def representatives(
    subject: Subject, arguments: tuple[Seen, ...], given: Sequence[Run], free: Choices
) -> Iterator[Run]:
    """Yields each given run unchanged if a CPU can check it, otherwise reductions of it."""
    for number, run in enumerate(given[:_SETTINGS]):
        asked = in_function_order(run, arguments)
        if _affordable(subject, asked, run):
            yield replace(run, purpose=Purpose.REDUCED, number=number)
            continue
        for reduced in _reductions(subject, asked, free):
            yield replace(reduced, purpose=Purpose.REDUCED, number=number)


def _reductions(subject: Subject, asked: tuple[Seen, ...], free: Choices) -> list[Run]:
    """Reduces as few sizes as possible, outermost first; then all but one size; then all sizes in proportion."""
    outermost = sorted(free, key=lambda size: _place(size, asked))
    peeled = [set(outermost[:count]) for count in range(1, max(len(free), 2))]
    kept = [free.keys() - {size} for size in sorted(free, key=lambda size: size.extent, reverse=True)]
    halved = [{size: max(size.extent >> times, 2) for size in free} for times in range(1, 12)]
    first = next(filter(None, (_tried(subject, asked, _shrunk(free, sizes)) for sizes in peeled)), None)
    others = [_tried(subject, asked, _shrunk(free, sizes), _FURTHER) for sizes in kept if len(free) > 1]
    runs = [first, *others, _tried(subject, asked, halved, _FURTHER)]
    return list({repr(run.arguments): run for run in runs if run is not None}.values())[:_STAND_INS]


def _tried(subject: Subject, asked: tuple[Seen, ...], sizes: Iterable[Sizes], most: int = _MOST_ELEMENTS) -> Run | None:
    """Returns the first run that works and is affordable, which is the largest."""
    for resizing in sizes:
        arguments = resized(asked, resizing)
        run = attempted(subject, arguments)
        if run is not None and _affordable(subject, arguments, run, most) and subject.gives_finite_results(arguments):
            return run
    return None


def _place(size: Size, asked: tuple[Seen, ...]) -> tuple[int, int]:
    """Returns the outermost dimension and the first tensor with this size."""
    tensors = [seen for seen in asked if isinstance(seen, TensorSeen)]
    places = ((axis, number) for number, seen in enumerate(tensors) for axis in range(len(seen.shape)))
    return min(place for place in places if size.is_of(tensors[place[1]], place[0]))


def _shrunk(free: Choices, sizes: Collection[Size]) -> Iterator[Sizes]:
    """Yields reductions that keep divisors of a size, so that tiles and vectors still divide it."""
    for most in _DIVISORS:
        yield {size: _divisor(size.extent, most) or least({size: free[size]})[size] for size in sizes}


def _divisor(extent: int, most: int) -> int | None:
    power = min(extent & -extent, most)
    return power if power > 1 else None


def _affordable(subject: Subject, arguments: tuple[Seen, ...], run: Run, most: int = _MOST_ELEMENTS) -> bool:
    if elements((*arguments, *run.outputs)) > most:
        return False
    return subject.multiplications(arguments) <= _MOST_MULTIPLICATIONS


def small_runs(subject: Subject, given: tuple[Seen, ...], free: Choices) -> list[Run]:
    """Returns small cases, the most informative first, and witnesses for their formulas."""
    found: list[Run] = []
    for sizes in _combinations(free):
        arguments = resized(given, sizes)
        run = attempted(subject, arguments)
        if run is None or any(run.arguments == other.arguments for other in found):
            continue
        small = _cost(run, given) <= SMALL and subject.gives_finite_results(arguments)
        wanted = small and sum(other.purpose is Purpose.SMALL for other in found) < _CASES
        found.append(replace(run, purpose=Purpose.SMALL if wanted else Purpose.WITNESS))
        if len(found) == _CASES + _WITNESSES:
            break
    return found if any(run.purpose is Purpose.SMALL for run in found) else _with_cases(subject, given, found)


def in_function_order(run: Run, given: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """Returns the arguments of a run in the order of the function."""
    named = {seen.name: seen for seen in run.arguments}
    return tuple(named[seen.name] for seen in given)


def _with_cases(subject: Subject, given: tuple[Seen, ...], witnesses: list[Run]) -> list[Run]:
    """If no run is small, turns the smallest into cases: up to the first that reveals wrong strides, then cheap ones.

    Each runs with data, because a case needs expected values.
    """
    chosen: list[Run] = []
    spent = 0
    for run in sorted(witnesses, key=lambda run: _cost(run, given)):
        spent += _cost(run, given)
        limit = _USEFUL if any(_reveals_strides(other, given) for other in chosen) else _NECESSARY
        if spent <= limit and len(chosen) < _CASES and subject.gives_finite_results(in_function_order(run, given)):
            chosen.append(run)
    return [replace(run, purpose=Purpose.SMALL) if run in chosen else run for run in witnesses]


def _cost(run: Run, given: tuple[Seen, ...]) -> int:
    return elements((*in_function_order(run, given), *run.outputs))


def _reveals_strides(run: Run, given: tuple[Seen, ...]) -> bool:
    """Whether wrong strides would show: the stride of a dimension of size one is never used."""
    pairs = zip(chain(*shapes(in_function_order(run, given))), chain(*shapes(given)), strict=True)
    return all(size > 1 or before == 1 for size, before in pairs)


def _combinations(choices: Choices) -> Iterator[Sizes]:
    if not choices:
        return
    generator = random.Random(0)
    for rank in (2, 0, 1):
        yield {size: values[min(rank, len(values) - 1)] for size, values in choices.items()}
    for _ in range(_ATTEMPTS):
        yield {size: generator.choice(values) for size, values in choices.items()}
