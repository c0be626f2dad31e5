"""Loads samples in this process, which is quicker than a child each; a few tests ask for the real child."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warpwright.core.codec import dumps, loads
from warpwright.core.task import Direction, Role, Task
from warpwright.tasks import load, probe
from warpwright.tasks.probing.answering import answer
from warpwright.tasks.seen import Job

SAMPLES = Path(__file__).parent / "samples"
Load = Callable[..., Task]


def _in_this_process(text: str, seconds: float) -> subprocess.CompletedProcess[str]:
    found = dumps(answer(loads(Job, text)))
    return subprocess.CompletedProcess(args=[], returncode=0, stdout=found, stderr="")


@pytest.fixture(autouse=True)
def quick_probe(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if "real_child" not in request.fixturenames:
        monkeypatch.setattr(probe, "_child", _in_this_process)
    yield


@pytest.fixture
def real_child() -> None:
    """Asks for the child process."""


@functools.cache
def _loaded(spec: str, inputs: tuple[str, ...], direction: Direction | None) -> Task:
    return load(str(SAMPLES / spec), inputs=inputs, direction=direction)[0]


@pytest.fixture
def sample() -> Load:
    """The first task of a sample, in one direction."""

    def found(spec: str, *inputs: str, direction: Direction | None = None) -> Task:
        return _loaded(spec, inputs, direction)

    return found


def sizes(task: Task, role: Role) -> list[dict[str, int]]:
    return [dict(case.dims) for case in task.cases_of(role)]
