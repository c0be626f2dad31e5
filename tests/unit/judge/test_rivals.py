"""Processes that run torch's answers: few are started, each knows one task at a time, and none takes others with it."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from warpwright.core.errors import OurFault
from warpwright.core.evidence import Fault
from warpwright.core.judged import Asked, Job
from warpwright.core.task import Role
from warpwright.judge import ahead, timekeeping
from warpwright.judge.timekeeping import Timekeeper
from warpwright.judge.timing import RivalLost
from warpwright.tasks import load


class Process:
    """Answers everything, and dies of the baselines that it is told to die of."""

    started: ClassVar[list[Process]] = []
    deadly: ClassVar[set[str]] = set()

    def __init__(self, target: object) -> None:
        self.asked: list[str] = []
        self.alive = True
        self.started.append(self)

    def ask(self, do: str, timeout_s: float = 0.0, **arguments: Any) -> dict[str, Any]:
        self.asked.append(arguments.get("baseline", do))
        if arguments.get("baseline") in self.deadly:
            self.alive = False
            raise OurFault(Fault(where="rival", message="out of memory"))
        return {}

    demand = ask

    def is_alive(self) -> bool:
        return self.alive

    def kill(self) -> None:
        self.alive = False


class Baseline:
    def __init__(self, name: str, process: Process, *_: object) -> None:
        self.name, self.process = name, process
        try:
            process.ask("prepare", baseline=name)
        except OurFault as fault:
            raise RivalLost(str(fault)) from None


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Process, "started", [])
    monkeypatch.setattr(Process, "deadly", set())
    for module in (timekeeping, ahead):
        monkeypatch.setattr(module, "Process", Process)
    monkeypatch.setattr(timekeeping, "Baseline", Baseline)


def keeper() -> Timekeeper:
    return Timekeeper(SimpleNamespace(), SimpleNamespace(), SimpleNamespace(gpu=None), random.Random(1))  # type: ignore[arg-type]


def job(key: str) -> Job:
    task = load(key)[0]
    return Job(id=key, label=key, task=replace(task, baselines=()), sealed=None)


def prepared(keeper: Timekeeper, asked: Job, faults: list[Fault]) -> list[Any]:
    return list(keeper._baselines(asked, asked.task.cases_of(Role.TIME)[0], 4, faults))


def test_one_rival_serves_one_task_after_the_other_and_is_told_of_each_once() -> None:
    rivals = keeper()
    for key in ("softmax", "softmax", "layernorm"):
        rivals.expect(job(key))
        prepared(rivals, job(key), [])
    (process,) = Process.started
    assert process.asked.count("task") == 2


def test_nothing_is_started_for_a_job_without_baselines() -> None:
    keeper().expect(replace(job("softmax"), asked=Asked(baselines=(), ceiling=False)))
    assert not Process.started


def test_a_baseline_that_fails_is_absent_and_the_others_are_not() -> None:
    Process.deadly = {"compile"}
    faults: list[Fault] = []
    found = prepared(keeper(), job("softmax"), faults)
    assert [baseline.name for baseline in found] == ["eager", "max-autotune"]
    assert all(baseline.process.alive for baseline in found)
    assert [fault.where.split(",")[0] for fault in faults] == ["rival compile"]


def test_compilers_are_used_again_and_the_longest_begin() -> None:
    said: list[str] = []
    ahead.compile_ahead([job("softmax"), job("layernorm"), job("softmax")], 1, said.append)
    assert len(Process.started) == 1
    cases = sum(len(job(key).task.cases_of(Role.TIME)) for key in ("softmax", "layernorm"))
    assert [line.rpartition(", ")[2] for line in said] == ["max-autotune"] * cases + ["compile"] * cases
    assert not Process.started[0].alive


def test_a_compiler_that_failed_is_not_used_again() -> None:
    Process.deadly = {"max-autotune"}
    said: list[str] = []
    ahead.compile_ahead([job("softmax")], 1, said.append)
    assert len(Process.started) == len(job("softmax").task.cases_of(Role.TIME)) + 1
    assert "out of memory" in said[0]
