"""Processes that run torch's answers: few are started, each knows one task at a time, and none takes others with it."""

from __future__ import annotations

import gc
import random
import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault
from warpwright.core.records.judged import STANDARD, Asked, Job
from warpwright.core.task import Role
from warpwright.judge.baselines import pool as rivals
from warpwright.judge.baselines import precompile as ahead
from warpwright.judge.baselines import process as rival
from warpwright.judge.baselines.pool import BaselinePool
from warpwright.judge.baselines.timed import TimedBaseline
from warpwright.judge.processes.workers import GpuMemoryTaken
from warpwright.judge.timing import case_timing as timekeeping
from warpwright.judge.timing.case_timing import CaseTimer
from warpwright.tasks import load


class Cyclic:
    """What only the collector of garbage frees, as autograd's graphs are."""

    def __init__(self) -> None:
        self.me = self


@pytest.mark.parametrize(("held", "freed"), [(30 << 30, True), (1 << 20, False)])
def test_what_a_rival_forgets_is_freed_at_once_where_it_is_much(
    monkeypatch: pytest.MonkeyPatch, held: int, freed: bool
) -> None:
    for name in ("memory_allocated", "memory_reserved"):
        monkeypatch.setattr(torch.cuda, name, lambda: held)
    rival_, graph = rival.BaselineProcess.__new__(rival.BaselineProcess), Cyclic()
    rival_._timer = SimpleNamespace(forget=lambda: None)  # type: ignore[assignment]
    gone = weakref.ref(graph)
    gc.disable()
    try:
        del graph
        rival_.forget()
    finally:
        gc.enable()
    assert (gone() is None) == freed


class Worker:
    """Answers everything, and dies of the baselines that it is told to die of."""

    started: ClassVar[list[Worker]] = []
    deadly: ClassVar[set[str]] = set()

    def __init__(self, target: object) -> None:
        self.target = target
        self.asked: list[str] = []
        self.alive = True
        self.started.append(self)

    def ask(self, do: str, timeout_s: float = 0.0, **arguments: Any) -> dict[str, Any]:
        self.asked.append(do)
        if arguments.get("baseline") in self.deadly:
            self.alive = False
            raise OurFault(Fault(where="rival", message="out of memory"))
        return {"samples_us": [1.0] * len(arguments.get("keys", ())), "staged": 2}

    demand = ask

    def is_alive(self) -> bool:
        return self.alive

    def close_pipe(self) -> None:
        self.asked.append("close pipe")

    def join(self) -> None:
        assert self.asked[-1] == "close pipe"
        self.alive = False


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Worker, "started", [])
    monkeypatch.setattr(Worker, "deadly", set())
    for module in (rivals, ahead):
        monkeypatch.setattr(module, "Worker", Worker)


@pytest.fixture
def hosts() -> Iterator[BaselinePool]:
    made = BaselinePool()
    yield made
    made.close()
    assert not any(process.alive for process in Worker.started)


def job(key: str) -> Job:
    task = load(key)[0]
    return Job(id=key, label=key, task=replace(task, baselines=()), sealed=None)


def prepared(hosts: BaselinePool, key: str, names: Sequence[str] = STANDARD) -> list[Any]:
    task = job(key).task
    return hosts.prepared(names, task, task.cases_of(Role.TIME)[0], 4, random.Random(1))


def test_a_process_for_each_serves_one_task_after_the_other_and_is_told_of_it_once(hosts: BaselinePool) -> None:
    for key in ("softmax", "softmax", "layernorm"):
        hosts.start(STANDARD)
        assert [baseline.name for baseline in prepared(hosts, key)] == list(STANDARD)
    assert len(Worker.started) == 3
    assert [process.asked.count("task") for process in Worker.started] == [2, 2, 2]
    assert [process.asked.count("share_lock") for process in Worker.started] == [1, 1, 1]


def test_only_those_that_compile_import_the_compiler(hosts: BaselinePool) -> None:
    hosts.start((*STANDARD, "copy"))
    assert [process.target for process in Worker.started] == [rival.main, rival.compiling, rival.compiling, rival.main]


def test_a_baseline_that_fails_is_absent_and_takes_no_other_with_it(hosts: BaselinePool) -> None:
    Worker.deadly = {"compile"}
    eager, (name, lost), autotuned = prepared(hosts, "softmax")
    assert (eager.name, name, autotuned.name) == ("eager", "compile", "max-autotune")
    assert "out of memory" in str(lost)
    Worker.deadly = set()
    assert len([item for item in prepared(hosts, "softmax") if isinstance(item, TimedBaseline)]) == 3
    assert len(Worker.started) == 4


def test_nothing_is_started_for_a_job_without_baselines() -> None:
    nothing = SimpleNamespace()
    keeper = CaseTimer(nothing, nothing, nothing, random.Random(1))  # type: ignore[arg-type]
    keeper.expect(replace(job("softmax"), asked=Asked(baselines=(), ceiling=False)))
    assert not Worker.started
    keeper.expect(job("softmax"))
    assert len(Worker.started) == 4
    keeper.close()


def test_whoever_has_the_turn_may_take_it_again_and_others_wait(tmp_path: Path) -> None:
    mine, theirs, seen = rival.MeasurementLock(), rival.MeasurementLock(), []
    mine.path = theirs.path = str(tmp_path / "turns")

    def other() -> None:
        with theirs.held():
            seen.append("theirs")

    waiting = threading.Thread(target=other)
    with mine.held(), mine.held():
        waiting.start()
        waiting.join(0.2)
        seen.append("mine")
    waiting.join()
    assert seen == ["mine", "theirs"]


def test_compilers_are_used_again_and_the_longest_begin() -> None:
    said: list[str] = []
    ahead.compile_ahead([job("softmax"), job("layernorm"), job("softmax")], 1, said.append)
    assert len(Worker.started) == 1
    cases = sum(len(job(key).task.cases_of(Role.TIME)) for key in ("softmax", "layernorm"))
    assert [line.rpartition(", ")[2] for line in said] == ["max-autotune"] * cases + ["compile"] * cases
    assert not Worker.started[0].alive


def test_a_compiler_that_failed_is_not_used_again() -> None:
    Worker.deadly = {"max-autotune"}
    said: list[str] = []
    ahead.compile_ahead([job("softmax")], 1, said.append)
    assert len(Worker.started) == len(job("softmax").task.cases_of(Role.TIME)) + 1
    assert "out of memory" in said[0]


@pytest.mark.parametrize(
    "full", [torch.OutOfMemoryError("the card is full"), GpuMemoryTaken(Fault(where="x", message="full"))]
)
def test_what_the_card_cannot_hold_at_once_is_timed_apart(monkeypatch: pytest.MonkeyPatch, full: Exception) -> None:
    keeper, asked, faults = CaseTimer.__new__(CaseTimer), [], [Fault(where="before", message="")]
    (task,) = load("softmax:forward")
    candidate = Job(id="j", label="j", task=task, sealed=SimpleNamespace(plans=()))  # type: ignore[arg-type]

    def together(job: Job, case: object, slots: int, faults: list[Fault]) -> list[str]:
        asked.append((job.sealed is not None, job.baselines))
        if len(asked) == 1:
            faults.append(Fault(where="rival", message="lost on the way"))
            raise full
        return ["time"]

    monkeypatch.setattr(timekeeping, "slots_for", lambda sealed, case: 4)
    monkeypatch.setattr(keeper, "_together", together)
    assert list(keeper.timed(candidate, task.cases_of(Role.TIME)[0], faults)) == ["time", "time"]
    assert asked == [(True, candidate.baselines), (True, ()), (False, candidate.baselines)]
    assert [fault.message for fault in faults] == ["", "timed apart: the card does not hold all at once"]


def test_what_the_card_cannot_hold_alone_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = CaseTimer.__new__(CaseTimer)

    def together(*_: object) -> list[str]:
        raise torch.OutOfMemoryError("the card is full")

    monkeypatch.setattr(keeper, "_together", together)
    with pytest.raises(torch.OutOfMemoryError):
        list(keeper.timed(job("softmax"), job("softmax").task.cases_of(Role.TIME)[0], []))
