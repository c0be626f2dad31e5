"""Processes that are started ahead: taken in order, and only while they live."""

import multiprocessing
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault
from warpwright.judge.processes import workers as workers
from warpwright.judge.processes.kernel_process import KernelProcess
from warpwright.judge.processes.link import MEMORY_TAKEN, send, serve
from warpwright.judge.processes.workers import Worker, WorkerFailure, WorkerPool


class Started:
    """Stands for a process: one that was killed while it waited neither lives nor answers."""

    def __init__(self, target):
        self.target, self.killed, self.buried = target, False, False

    def is_alive(self):
        return not self.killed

    def demand(self, do):
        if self.killed:
            raise OurFault(Fault(where="GPU process", message="gone", retryable=True))
        return {"ok": True}

    def terminate(self):
        self.killed = True

    def join(self):
        self.buried = True

    kill = terminate
    has_started = Worker.has_started


@pytest.fixture
def spares(monkeypatch):
    monkeypatch.setattr(workers, "Worker", Started)
    return WorkerPool("worker")


def test_those_that_wait_are_taken_and_others_started_when_none_does(spares):
    spares.start(2)
    waiting = list(spares._waiting)
    with spares.borrowed() as first, spares.borrowed() as second, spares.borrowed() as third:
        assert [first, second] == waiting
        assert third not in waiting


def test_each_ends_after_its_use_and_is_waited_for_before_the_next(spares):
    with spares.borrowed() as first:
        assert not first.killed
    assert (first.killed, first.buried) == (True, False)
    with spares.borrowed() as second:
        assert first.buried
        assert second is not first


def test_no_more_are_started_than_are_to_wait(spares):
    spares.start(2)
    waiting = list(spares._waiting)
    spares.start(3)
    spares.start(1)
    assert len(spares._waiting) == 3
    assert spares._waiting[:2] == waiting


def test_one_that_was_killed_while_it_waited_is_not_taken(spares):
    spares.start(3)
    first, second, third = spares._waiting
    first.kill()
    with spares.borrowed() as borrowed:
        assert borrowed is second
    third.kill()
    spares.settle()
    assert spares._waiting == []


def test_all_that_wait_are_killed_at_the_end(spares):
    spares.start(2)
    waiting = list(spares._waiting)
    spares.close()
    assert all(item.killed for item in waiting)


def test_one_that_is_hung_up_on_leaves_by_itself():
    process = Worker(partial(serve, make=object))
    process.close_pipe()
    process.join()
    assert process._process.exitcode == 0


class Answering(Worker):
    """Has one answer to everything."""

    def __init__(self, answer):
        ours, self._theirs = multiprocessing.Pipe()
        self._connection = ours
        send(self._theirs, answer)

    def kill(self):
        self.killed = True


def test_memory_that_others_hold_is_nobodys_verdict():
    with pytest.raises(OurFault, match="out of memory") as fault:
        Answering({"ok": False, "kind": MEMORY_TAKEN, "error": "out of memory"}).ask("prepare", 1.0)
    assert fault.value.fault.retryable
    with pytest.raises(WorkerFailure, match="out of memory") as failure:
        Answering({"ok": False, "kind": "memory", "error": "out of memory"}).ask("prepare", 1.0)
    assert failure.value.kind == "memory"


@pytest.mark.parametrize(
    ("free", "arena", "reserved", "kind"),
    [
        (1, 24, 1, MEMORY_TAKEN),  # others hold 74 of 100
        (1, 60, 10, "memory"),  # this one does
        (95, 1, 1, "memory"),  # there would have been room for much
    ],
)
def test_a_card_that_is_full_is_the_candidates_only_where_it_filled_it(monkeypatch, free, arena, reserved, kind):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free, 100))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: reserved)
    cell = object.__new__(KernelProcess)
    cell.memory = SimpleNamespace(size=arena)
    assert cell.describe_error(torch.OutOfMemoryError("no room"))["kind"] == kind
