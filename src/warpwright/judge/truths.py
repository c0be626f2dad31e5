"""What is true of each draw, computed once on the judge's side and kept: candidates come and go, truth stays."""

from __future__ import annotations

from typing import TypeVar

from warpwright.core.codec import content_id
from warpwright.core.task import Draw, Task
from warpwright.oracle.truth import Expected, Scenario, expectations, scenario

MOST_TASKS = 16
Known = TypeVar("Known")


class Truths:
    """Inputs and expectations by task and draw, of the tasks that were asked for last: memory is finite."""

    def __init__(self, device: str = "cuda") -> None:
        self._device = device
        self._scenarios: dict[str, dict[str, Scenario]] = {}
        self._expected: dict[str, dict[str, tuple[Expected, ...]]] = {}

    def scenario(self, task: Task, draw: Draw) -> Scenario:
        known, key = _latest(self._scenarios, task.id), content_id(draw)
        if key not in known:
            known[key] = scenario(task, draw, self._device)
        return known[key]

    def expected(self, task: Task, draw: Draw) -> tuple[Expected, ...]:
        known, key = _latest(self._expected, task.id), content_id(draw)
        if key not in known:
            known[key] = expectations(task, draw, self.scenario(task, draw))
        return known[key]


def _latest(kept: dict[str, dict[str, Known]], task: str) -> dict[str, Known]:
    """What is known of a task; the task that was not asked for longest is forgotten where there are too many."""
    kept[task] = kept.pop(task, {})
    while len(kept) > MOST_TASKS:
        del kept[next(iter(kept))]
    return kept[task]
