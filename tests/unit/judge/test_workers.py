"""The worker pool: workers are taken in order, and only while they are alive."""

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
    """A stand-in for a process: after it was killed it is not alive and answers nothing."""

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
def pool(monkeypatch):
    monkeypatch.setattr(workers, "Worker", Started)
    return WorkerPool("worker")


def test_waiting_workers_are_taken_first_and_new_ones_started_if_none_waits(pool):
    pool.start(2)
    waiting = list(pool._waiting)
    with pool.borrowed() as first, pool.borrowed() as second, pool.borrowed() as third:
        assert [first, second] == waiting
        assert third not in waiting


def test_each_worker_ends_after_use_and_is_joined_before_the_next(pool):
    with pool.borrowed() as first:
        assert not first.killed
    assert (first.killed, first.buried) == (True, False)
    with pool.borrowed() as second:
        assert first.buried
        assert second is not first


def test_no_more_workers_are_started_than_shall_wait(pool):
    pool.start(2)
    waiting = list(pool._waiting)
    pool.start(3)
    pool.start(1)
    assert len(pool._waiting) == 3
    assert pool._waiting[:2] == waiting


def test_a_worker_killed_while_waiting_is_not_taken(pool):
    pool.start(3)
    first, second, third = pool._waiting
    first.kill()
    with pool.borrowed() as borrowed:
        assert borrowed is second
    third.kill()
    pool.settle()
    assert pool._waiting == []


def test_waiting_workers_are_killed_when_the_pool_closes(pool):
    pool.start(2)
    waiting = list(pool._waiting)
    pool.close()
    assert all(item.killed for item in waiting)


def test_a_process_whose_pipe_closes_ends_by_itself():
    process = Worker(partial(serve, make=object))
    process.close_pipe()
    process.join()
    assert process._process.exitcode == 0


class Answering(Worker):
    """Gives one answer to every command."""

    def __init__(self, answer):
        ours, self._theirs = multiprocessing.Pipe()
        self._connection = ours
        send(self._theirs, answer)

    def kill(self):
        self.killed = True


def test_memory_held_by_other_processes_gives_no_verdict():
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
def test_a_full_gpu_refutes_the_candidate_only_if_the_candidate_filled_it(monkeypatch, free, arena, reserved, kind):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free, 100))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: reserved)
    process = object.__new__(KernelProcess)
    process.memory = SimpleNamespace(size=arena)
    assert process.describe_error(torch.OutOfMemoryError("no room"))["kind"] == kind
