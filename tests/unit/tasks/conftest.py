"""Loads samples in this process, which is faster than a child process each, and tests implementations of loaded
tasks.
"""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from warpwright.core.calls import arguments, bound, entry_calls
from warpwright.core.codec import dumps, loads
from warpwright.core.hidden import hidden_cases
from warpwright.core.task import Direction, Draw, Role, Task
from warpwright.oracle.compare.results import check_results
from warpwright.oracle.truth.expected import Scenario, expectations, scenario
from warpwright.oracle.truth.reference import tensors_in
from warpwright.tasks import load
from warpwright.tasks.probing import probe
from warpwright.tasks.probing.child.answering import answer
from warpwright.tasks.probing.seen import Job

SAMPLES = Path(__file__).parent / "samples"


def _in_this_process(text: str, seconds: float) -> subprocess.CompletedProcess[str]:
    found = dumps(answer(loads(Job, text)))
    return subprocess.CompletedProcess(args=[], returncode=0, stdout=found, stderr="")


@pytest.fixture(autouse=True)
def quick_probe(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "real_child" not in request.fixturenames:
        monkeypatch.setattr(probe, "_child", _in_this_process)


@pytest.fixture
def real_child() -> None:
    """Runs the child process."""


@functools.cache
def _loaded(spec: str, inputs: tuple[str, ...], direction: Direction | None) -> Task:
    return load(str(SAMPLES / spec), inputs=inputs, direction=direction)[0]


@pytest.fixture
def sample() -> Callable[..., Task]:
    """Loads the first task of a sample in one direction."""

    def found(spec: str, *inputs: str, direction: Direction | None = None) -> Task:
        return _loaded(spec, inputs, direction)

    return found


@pytest.fixture
def accepts() -> Callable[[Task, Callable[..., Any]], None]:
    """Checks that every draw accepts an implementation's results, and refutes them after one element is changed."""
    return _accepts


def _draws(task: Task) -> Iterator[Draw]:
    task = task.in_general()
    cases = (*task.cases_of(Role.CHECK), *hidden_cases(task, secret=3, count=3))
    for number, case in enumerate(cases):
        names = task.distributions
        yield Draw(case=case, distribution=names[number % len(names)], seed=number)


def _handed(task: Task, draw: Draw, given: Scenario) -> list[Any]:
    """Returns the arguments of a candidate."""
    return bound(entry_calls(task, draw.case)[0], given)


def _accepts(task: Task, implementation: Callable[..., Any]) -> None:
    for draw in _draws(task):
        given = scenario(task, draw)
        values = _handed(task, draw, given.copy())
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
