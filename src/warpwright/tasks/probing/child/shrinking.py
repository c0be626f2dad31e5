"""Small cases, made of the sizes that may be smaller."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from warpwright.tasks.probing.child.observing import Subject
from warpwright.tasks.probing.child.sizing import SMALL, Choices, Sizes, attempted, free_sizes, resized, shapes
from warpwright.tasks.probing.child.values import elements
from warpwright.tasks.probing.seen import Purpose, Run, Seen

_CASES, _WITNESSES, _ATTEMPTS = 5, 4, 40
_CHEAP, _BEARABLE = 2**20, 2**25
"""Elements of all cases together, where none is small: with those that are merely welcome, and of those needed."""


def small_runs(subject: Subject, given: tuple[Seen, ...]) -> list[Run]:
    """Small cases, the most telling first, and witnesses for the formulas that follow from them."""
    found: list[Run] = []
    for sizes in _combinations(free_sizes(subject, given)):
        arguments = resized(given, sizes)
        run = attempted(subject, arguments)
        if run is None or any(run.arguments == other.arguments for other in found):
            continue
        small = _cost(run, given) <= SMALL and subject.bears(arguments)
        wanted = small and sum(other.purpose is Purpose.SMALL for other in found) < _CASES
        found.append(replace(run, purpose=Purpose.SMALL if wanted else Purpose.WITNESS))
        if len(found) == _CASES + _WITNESSES:
            break
    return found if any(run.purpose is Purpose.SMALL for run in found) else _with_cases(subject, given, found)


def in_order(run: Run, given: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """The arguments of a run as the function itself takes them."""
    named = {seen.name: seen for seen in run.arguments}
    return tuple(named[seen.name] for seen in given)


def _with_cases(subject: Subject, given: tuple[Seen, ...], witnesses: list[Run]) -> list[Run]:
    """Where nothing is small, the smallest become cases: up to the first that can tell a wrong stride, then cheap ones.

    Each is tried with data, because a case must have a true result.
    """
    chosen: list[Run] = []
    spent = 0
    for run in sorted(witnesses, key=lambda run: _cost(run, given)):
        spent += _cost(run, given)
        limit = _CHEAP if any(_tells_strides(other, given) for other in chosen) else _BEARABLE
        if spent <= limit and len(chosen) < _CASES and subject.bears(in_order(run, given)):
            chosen.append(run)
    return [replace(run, purpose=Purpose.SMALL) if run in chosen else run for run in witnesses]


def _cost(run: Run, given: tuple[Seen, ...]) -> int:
    return elements((*in_order(run, given), *run.outputs))


def _tells_strides(run: Run, given: tuple[Seen, ...]) -> bool:
    """The stride of a dimension that became one is never used."""
    pairs = zip(chain(*shapes(in_order(run, given))), chain(*shapes(given)), strict=True)
    return all(size > 1 or before == 1 for size, before in pairs)


def _combinations(choices: Choices) -> Iterator[Sizes]:
    if not choices:
        return
    generator = random.Random(0)
    for rank in (2, 0, 1):
        yield {size: values[min(rank, len(values) - 1)] for size, values in choices.items()}
    for _ in range(_ATTEMPTS):
        yield {size: generator.choice(values) for size, values in choices.items()}
