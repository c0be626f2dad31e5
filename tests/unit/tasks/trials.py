"""Runs a right and a wrong implementation of a loaded task through the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from warpwright.core.hidden import hidden_cases
from warpwright.core.signature import arguments, arranged
from warpwright.core.task import Direction, Draw, Role, Task
from warpwright.oracle.check import check_results
from warpwright.oracle.reference import tensors_in
from warpwright.oracle.truth import Scenario, expectations, scenario

Implementation = Callable[..., Any]


def draws(task: Task) -> Iterator[Draw]:
    cases = (*task.cases_of(Role.CHECK), *hidden_cases(task, secret=3, count=3))
    for number, case in enumerate(cases):
        names = task.distributions
        yield Draw(case=case, distribution=names[number % len(names)], seed=number)


def handed(task: Task, draw: Draw, given: Scenario) -> list[Any]:
    """What a candidate would be called with."""
    if task.direction is Direction.BACKWARD:
        return arranged(task, draw.case, given.gradients, given.saves, given.arguments)
    return given.arguments


def accepts(task: Task, implementation: Implementation) -> None:
    """Every draw takes the implementation's results, and refutes them when one element is changed."""
    for draw in draws(task):
        given = scenario(task, draw)
        values = handed(task, draw, given.copy())
        assert [_form(value) for value in values] == [_declared(spec) for spec in arguments(task, draw.case)]
        expected = expectations(task, draw, given)
        results = [tensor.detach().contiguous() for tensor in tensors_in(implementation(*values))]
        mismatch = check_results(expected, results)
        assert mismatch is None, f"{draw.case.name}, {draw.distribution}: {mismatch and mismatch.message}"
        results[0] = results[0].clone()
        results[0].view(-1)[-1] += 1 + results[0].abs().max()
        assert check_results(expected, results) is not None


def _form(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return tuple(value.shape)
    tensors = [tuple(item.shape) for item in value] if isinstance(value, list) and tensors_in(value) else None
    return tensors or (tuple(value) if isinstance(value, list) else value)


def _declared(spec: Any) -> Any:
    if hasattr(spec, "shape"):
        return spec.shape
    return [item.shape for item in spec.items] if hasattr(spec, "items") else spec.value
