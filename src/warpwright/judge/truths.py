"""What is true of each draw, computed once on the judge's side and kept: candidates come and go, truth stays."""

from __future__ import annotations

from warpwright.core.codec import content_id
from warpwright.core.task import Draw, Task
from warpwright.oracle.truth import Expected, Scenario, expectations, scenario


class Truths:
    """Inputs and expectations by task and draw, of one task at a time: jobs come task by task, and memory is finite."""

    def __init__(self, device: str = "cuda") -> None:
        self._device = device
        self._task: str | None = None
        self._scenarios: dict[tuple[str, str], Scenario] = {}
        self._expected: dict[tuple[str, str], tuple[Expected, ...]] = {}

    def scenario(self, task: Task, draw: Draw) -> Scenario:
        self._turn_to(task)
        key = (task.key, content_id(draw))
        if key not in self._scenarios:
            self._scenarios[key] = scenario(task, draw, self._device)
        return self._scenarios[key]

    def expected(self, task: Task, draw: Draw) -> tuple[Expected, ...]:
        self._turn_to(task)
        key = (task.key, content_id(draw))
        if key not in self._expected:
            self._expected[key] = expectations(task, draw, self.scenario(task, draw))
        return self._expected[key]

    def _turn_to(self, task: Task) -> None:
        if task.key != self._task:
            self._task = task.key
            self._scenarios.clear()
            self._expected.clear()
