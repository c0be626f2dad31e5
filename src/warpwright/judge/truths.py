"""What is true of each draw, computed once on the judge's side and kept: candidates come and go, truth stays."""

from __future__ import annotations

from dataclasses import replace

import torch

from warpwright.core.codec import content_id
from warpwright.core.dtypes import dtype_named
from warpwright.core.task import Draw, Task
from warpwright.oracle.reference import evaluate, function
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


def estimated(task: Task, draw: Draw, given: Scenario, like: tuple[Expected, ...]) -> tuple[Expected, ...]:
    """Expectations from one run of the reference in its own precision, with the spread known from another draw.

    A tenth of the price of the full truth, so that every timed output can be held against something. Where rounding to
    eight bits is the point there is no cheap truth.
    """
    if any(dtype_named(item.spec.dtype).quantised for item in like):
        return expectations(task, draw, given)
    fresh = given.copy()
    found = evaluate(task, draw.case, function(task.reference), fresh.arguments, fresh.gradients, fresh.saves)
    full = expectations(task, draw, given, runs=1) if any(item.choices is not None for item in like) else like
    return tuple(
        replace(item, value=value.double() if value.is_floating_point() else value, spread=_scaled(item, value))
        for item, value in zip(full, found, strict=True)
    )


def _scaled(like: Expected, value: torch.Tensor) -> torch.Tensor | None:
    """The reference itself is as far off as the candidate may be, hence twice the spread."""
    if like.spread is None:
        return None
    size = like.value.square().mean().sqrt()
    level = float(like.spread.square().mean().sqrt() / size) if float(size) > 0 else 0.0
    row = value.double().square().mean(-1, keepdim=True).sqrt() if value.dim() else value.double().abs()
    return (2 * level * row).expand(value.shape)
