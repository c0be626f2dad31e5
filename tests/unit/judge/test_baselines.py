"""Baseline processes: few are started, each has one task at a time, and a failure ends only one."""

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
from warpwright.core.records.judged import STANDARD, Job, JudgeOptions
from warpwright.core.task import Role
from warpwright.judge.baselines import pool
from warpwright.judge.baselines import precompile as ahead
from warpwright.judge.baselines import process as baseline_process
from warpwright.judge.baselines.pool import BaselinePool
from warpwright.judge.baselines.timed import TimedBaseline
from warpwright.judge.gpu.free_memory import drop_cycles
from warpwright.judge.processes.workers import GpuMemoryTaken
from warpwright.judge.timing.case_timing import CaseTimer, together_or_apart
from warpwright.tasks import load


class Cyclic:
    """A reference cycle, which only the garbage collector frees, as with autograd graphs."""

    def __init__(self) -> None:
        self.me = self


@pytest.mark.parametrize(("held", "freed"), [(30 << 30, True), (1 << 20, False)])
def test_reference_cycles_are_freed_at_once_if_much_memory_is_held(
    monkeypatch: pytest.MonkeyPatch, held: int, freed: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: held)
    graph = Cyclic()
    gone = weakref.ref(graph)
    gc.disable()
    try:
        del graph
        drop_cycles()
    finally:
        gc.enable()
    assert (gone() is None) == freed


class Worker:
    """Answers every command, and dies of the named baselines."""

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
            raise OurFault(Fault(where="baseline", message="out of memory"))
        return {"samples_us": [1.0] * len(arguments.get("keys", ())), "staged": 2, "peak_bytes": 64}

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
    for module in (pool, ahead):
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


def test_each_baseline_has_one_process_which_gets_each_task_once(hosts: BaselinePool) -> None:
    for key in ("softmax", "softmax", "layernorm"):
        hosts.start(STANDARD)
        assert [baseline.name for baseline in prepared(hosts, key)] == list(STANDARD)
    assert len(Worker.started) == 3
    assert [process.asked.count("task") for process in Worker.started] == [2, 2, 2]
    assert [process.asked.count("share_lock") for process in Worker.started] == [1, 1, 1]


def test_only_compiled_baselines_import_the_compiler(hosts: BaselinePool) -> None:
    hosts.start((*STANDARD, "copy"))
    assert [process.target for process in Worker.started] == [
        baseline_process.main,
        baseline_process.compiling,
        baseline_process.compiling,
        baseline_process.main,
    ]


def test_a_baseline_that_fails_is_absent_and_the_others_remain(hosts: BaselinePool) -> None:
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
    keeper.expect(replace(job("softmax"), asked=JudgeOptions(baselines=(), ceiling=False)))
    assert not Worker.started
    keeper.expect(job("softmax"))
    assert len(Worker.started) == 4
    keeper.close()


def test_the_measurement_lock_is_reentrant_and_excludes_other_processes(tmp_path: Path) -> None:
    mine, theirs, seen = baseline_process.MeasurementLock(), baseline_process.MeasurementLock(), []
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


def test_compiler_processes_are_reused_and_the_slowest_jobs_start_first() -> None:
    said: list[str] = []
    ahead.compile_ahead([job("softmax"), job("layernorm"), job("softmax")], 1, said.append)
    assert len(Worker.started) == 1
    cases = sum(len(job(key).task.cases_of(Role.TIME)) for key in ("softmax", "layernorm"))
    assert [line.rpartition(", ")[2] for line in said] == ["max-autotune"] * cases + ["compile"] * cases
    assert not Worker.started[0].alive


def test_a_compiler_process_that_failed_is_not_reused() -> None:
    Worker.deadly = {"max-autotune"}
    said: list[str] = []
    ahead.compile_ahead([job("softmax")], 1, said.append)
    assert len(Worker.started) == len(job("softmax").task.cases_of(Role.TIME)) + 1
    assert "out of memory" in said[0]


@pytest.mark.parametrize(
    "full", [torch.OutOfMemoryError("the card is full"), GpuMemoryTaken(Fault(where="x", message="full"))]
)
def test_candidate_and_baselines_are_timed_separately_if_the_gpu_cannot_hold_both(full: Exception) -> None:
    asked: list[tuple[bool, tuple[str, ...]]] = []
    faults = [Fault(where="before", message="")]
    candidate = replace(job("softmax"), sealed=SimpleNamespace(plans=()))  # type: ignore[arg-type]

    def timed(part: Job) -> list[Any]:
        asked.append((part.sealed is not None, part.baselines))
        if len(asked) == 1:
            faults.append(Fault(where="baseline", message="lost on the way"))
            raise full
        return ["time"]

    case = candidate.task.cases_of(Role.TIME)[0]
    assert list(together_or_apart(candidate, case, faults, timed)) == ["time", "time"]
    assert asked == [(True, candidate.baselines), (True, ()), (False, candidate.baselines)]
    assert [fault.message for fault in faults] == ["", "timed apart: the card does not hold all at once"]


def test_a_subject_that_alone_exhausts_gpu_memory_is_a_fault() -> None:
    def timed(part: Job) -> list[Any]:
        raise torch.OutOfMemoryError("the card is full")

    with pytest.raises(torch.OutOfMemoryError):
        list(together_or_apart(job("softmax"), job("softmax").task.cases_of(Role.TIME)[0], [], timed))
