"""The draws on which a task is checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from warpwright.core.calls import elements
from warpwright.core.task import Case, Draw, Layout, Role, Task

_LARGE = 9 << 15
"""Elements beyond which a case is checked with few distributions: each draw takes a second or more."""
_TELLING = ("huge", "large_mean", "ties")
"""The distributions of a large case besides the first, as far as the task has them."""


def check_draws(task: Task, seed: int = 0) -> tuple[Draw, ...]:
    """Every check case with the first distribution, and every distribution on two or more cases of each dtype."""
    return draws_of(task, task.cases_of(Role.CHECK), seed)


def draws_of(task: Task, cases: Sequence[Case], seed: int = 0) -> tuple[Draw, ...]:
    """The draws of some cases, those of the first distribution before the others."""
    by_dtype = sorted(cases, key=lambda case: case.dtype)
    groups = [tuple(group) for _, group in groupby(by_dtype, key=lambda case: case.dtype)]
    found = [draw for group in groups for draw in _of_one_dtype(task, group, seed)]
    return tuple(sorted(found, key=lambda draw: draw.distribution != task.distributions[0]))


def all_draws(task: Task, cases: tuple[Case, ...], seeds: tuple[int, ...]) -> Iterator[Draw]:
    """Every case with every distribution and every seed."""
    for case in cases:
        for distribution in task.distributions:
            for seed in seeds:
                yield Draw(case=case, distribution=distribution, seed=seed)


def _of_one_dtype(task: Task, cases: tuple[Case, ...], seed: int) -> Iterator[Draw]:
    count = len(cases)
    for position, case in enumerate(cases):
        is_large = elements(task, case) > _LARGE
        for number, distribution in enumerate(task.distributions):
            turn = distribution in _TELLING if is_large else (position - number) % count in (0, count // 2)
            if number == 0 or (turn and case.layout is Layout.CONTIGUOUS):
                yield Draw(case=case, distribution=distribution, seed=seed + position + number)
