"""Task rung: whether a task from outside the suites can tell right from wrong, before it judges a candidate."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwright.core.calls import elements
from warpwright.core.climb import Climb
from warpwright.core.errors import TaskError, Undecided
from warpwright.core.records.evidence import Evidence, Verdict
from warpwright.core.records.rungs import TASK
from warpwright.core.task import Draw, Role, Task
from warpwright.seal.cache import Store, default_root

if TYPE_CHECKING:
    from warpwright.emulate.truths import Truths
    from warpwright.oracle.controls.wrong import Prepared

_FEW_ELEMENTS = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitness:
    problem: str | None
    """Why no verdict of the task means anything; None if it can be used."""
    distributions: tuple[str, ...]
    """The distributions on which the reference has an error budget that honest implementations keep."""


class TaskRung:
    """Gives evidence only against a task; leaves out distributions on which honest implementations fail."""

    name = TASK

    def __init__(self, store: Store | None = None) -> None:
        self._store = store

    def climb(self, climbed: Climb) -> Climb:
        if climbed.task.suite or not climbed.task.cases_of(Role.CHECK):
            return climbed
        start = time.monotonic()
        found = fitness(climbed.task, self._store or Store(root=default_root()))
        if found.problem is None:
            return replace(climbed, task=replace(climbed.task, distributions=found.distributions))
        return climbed.with_evidence(
            Evidence(
                candidate=climbed.candidate.id,
                rung=TASK,
                verdict=Verdict.UNDECIDED,
                reason=f"{found.problem} (--trust-task checks all the same)",
                seconds=time.monotonic() - start,
            )
        )


def usable(task: Task) -> Task:
    """The task without distributions on which honest implementations fail; Undecided if it cannot be used."""
    if task.suite or not task.cases_of(Role.CHECK):
        return task
    found = fitness(task, Store(root=default_root()))
    if found.problem is not None:
        raise Undecided(f"{found.problem} (--trust-task goes on all the same)")
    return replace(task, distributions=found.distributions)


_known: dict[str, Fitness] = {}


def fitness(task: Task, store: Store) -> Fitness:
    """Tries a task, once in a process. A TaskError says where the reference fails on inputs it was given."""
    if task.id not in _known:
        _known[task.id] = _tried(task, store)
    return _known[task.id]


def _tried(task: Task, store: Store) -> Fitness:
    from warpwright.emulate.truths import Truths
    from warpwright.oracle.controls.fitness import unfitness
    from warpwright.oracle.inputs.draws import check_draws

    truths, first = Truths(task=task, store=store), task.distributions[0]
    draws = _cheap(task, check_draws(task))
    problem = unfitness([_prepared(truths, draw) for draw in draws if draw.distribution == first])
    if problem is not None:
        return Fitness(problem=problem, distributions=task.distributions)
    groups = {name: [draw for draw in draws if draw.distribution == name] for name in task.distributions[1:]}
    kept = [name for name, group in groups.items() if _is_survived(truths, group)]
    return Fitness(problem=None, distributions=(first, *kept))


def _cheap(task: Task, draws: Sequence[Draw]) -> list[Draw]:
    """Returns the draws of cases with few elements; those of the smallest case if none has few."""
    most = max(_FEW_ELEMENTS, min(elements(task, draw.case) for draw in draws))
    return [draw for draw in draws if elements(task, draw.case) <= most]


def _is_survived(truths: Truths, draws: Sequence[Draw]) -> bool:
    from warpwright.oracle.controls.fitness import refuted_honest

    try:
        return not any(refuted_honest(_prepared(truths, draw)) for draw in draws)
    except TaskError:
        return False


def _prepared(truths: Truths, draw: Draw) -> Prepared:
    from warpwright.oracle.controls.wrong import Prepared

    known = truths.of(draw)
    return Prepared(task=truths.task, draw=draw, given=known.stage.given, expected=known.expected)
