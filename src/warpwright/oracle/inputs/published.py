"""The checks of KernelBench and of KernelBench-Verified: their inputs and tolerances, to compare other checks with.

Both draw the inputs of one size from the problem's own distribution and compare with torch's answer by `allclose`.
KernelBench takes five seeds; KernelBench-Verified takes the inputs as they are, three times as large, a hundredth as
large, and negated. Parameters are what the constructor makes them: ones and zeros stay ones and zeros.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from warpwright.core.task import Case, Draw, Task, TensorArg
from warpwright.oracle.truth.expected import Scenario, scenario
from warpwright.oracle.truth.reference import Tensors, constructed, evaluate, function

_SEED = 42


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedCheck:
    """Inputs as factors of the problem's own, each with its seed, and the tolerance of each dtype."""

    name: str
    factors: tuple[float, ...]
    tolerances: Mapping[str, float]

    def draws(self, task: Task, case: Case) -> list[Draw]:
        kind = task.distributions[0]
        return [Draw(case=case, distribution=kind, seed=_SEED + number) for number in range(len(self.factors))]

    def scenario(self, task: Task, draw: Draw) -> Scenario:
        """The inputs of one trial."""
        given, factor = scenario(task, draw), self.factors[draw.seed - _SEED]
        state = set(_state(task))
        arguments = [
            _default(task, item.name, value) if item.name in state else _scaled(item, value, factor)
            for item, value in zip(task.arguments, given.arguments, strict=True)
        ]
        return Scenario(arguments=arguments, gradients=given.gradients, saves=given.saves)

    def accepts(self, task: Task, draw: Draw, given: Scenario, results: Tensors) -> bool:
        """Whether every result is close to torch's own."""
        fresh = given.copy()
        wanted = evaluate(task, draw.case, function(task.reference), fresh.arguments, fresh.gradients, fresh.saves)
        tolerance = self.tolerances.get(draw.case.dtype, max(self.tolerances.values()))
        return len(wanted) == len(results) and all(
            _is_close(found, right, tolerance) for found, right in zip(results, wanted, strict=True)
        )


_SIXTEEN_BITS = {"fp16": 1e-2, "bf16": 1e-2}
PUBLISHED = (
    PublishedCheck(name="kernelbench", factors=(1.0,) * 5, tolerances={"fp32": 1e-4, **_SIXTEEN_BITS}),
    PublishedCheck(
        name="kernelbench-verified", factors=(1.0, 3.0, 0.01, -1.0), tolerances={"fp32": 1e-3, **_SIXTEEN_BITS}
    ),
)


def _state(task: Task) -> list[str]:
    count = len(task.reference.state)
    return [item.name for item in task.arguments[len(task.arguments) - count :]]


def _default(task: Task, name: str, value: Any) -> Any:
    """A parameter that the constructor fills with one number keeps that number; others are drawn."""
    made = constructed(task, name).flatten()
    is_one_number = made.numel() > 0 and bool((made == made[0]).all())
    return torch.full_like(value, made[0].item()) if is_one_number else value


def _scaled(item: Any, value: Any, factor: float) -> Any:
    is_input = isinstance(item, TensorArg) and isinstance(value, torch.Tensor) and value.is_floating_point()
    return value * factor if is_input and factor != 1.0 else value


def _is_close(found: torch.Tensor, right: torch.Tensor, tolerance: float) -> bool:
    if found.shape != right.shape:
        return False
    return torch.allclose(found.to(torch.float64), right.to(torch.float64), atol=tolerance, rtol=tolerance)
