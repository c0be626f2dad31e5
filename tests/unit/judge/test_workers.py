"""The worker pool: workers are taken in order, and only while they are alive."""

from functools import partial

import pytest
import torch

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault
from warpwright.judge.processes import workers
from warpwright.judge.processes.kernel_process import memory_is_taken
from warpwright.judge.processes.link import MEMORY_TAKEN, serve
from warpwright.judge.processes.workers import Worker, WorkerFailure, WorkerPool, reported_error


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
def started(monkeypatch):
    made = []

    def start(target):
        made.append(Started(target))
        return made[-1]

    monkeypatch.setattr(workers, "Worker", start)
    return made


@pytest.fixture
def pool(started):
    return WorkerPool("worker")


def test_waiting_workers_are_taken_first_and_new_ones_started_if_none_waits(pool, started):
    pool.start(2)
    assert len(started) == 2
    with pool.borrowed() as first, pool.borrowed() as second, pool.borrowed() as third:
        assert [first, second, third] == started


def test_each_worker_ends_after_use_and_is_joined_before_the_next(pool):
    with pool.borrowed() as first:
        assert not first.killed
    assert (first.killed, first.buried) == (True, False)
    with pool.borrowed() as second:
        assert first.buried
        assert second is not first


def test_no_more_workers_are_started_than_shall_wait(pool, started):
    for count in (2, 3, 1):
        pool.start(count)
    assert len(started) == 3
    with pool.borrowed() as first, pool.borrowed() as second:
        assert [first, second] == started[:2]


def test_a_worker_killed_while_waiting_is_not_taken(pool, started):
    pool.start(3)
    first, second, third = started
    first.kill()
    with pool.borrowed() as borrowed:
        assert borrowed is second
    third.kill()
    pool.settle()
    pool.start(1)
    assert len(started) == 4, "the killed one was still waiting"


def test_waiting_workers_are_killed_when_the_pool_closes(pool, started):
    pool.start(2)
    pool.close()
    assert [item.killed for item in started] == [True, True]


def test_a_process_whose_pipe_closes_ends_by_itself():
    process = Worker(partial(serve, make=object))
    process.close_pipe()
    process.join()
    assert process.exit_code == 0


def test_memory_held_by_other_processes_gives_no_verdict():
    answer = {"ok": False, "kind": MEMORY_TAKEN, "error": "out of memory"}
    fault = reported_error("prepare", answer)
    assert isinstance(fault, OurFault)
    assert fault.fault.retryable
    failure = reported_error("prepare", {**answer, "kind": "memory"})
    assert isinstance(failure, WorkerFailure)
    assert failure.kind == "memory"
    assert "out of memory" in str(failure)


@pytest.mark.parametrize(
    ("free", "arena", "reserved", "taken"),
    [
        (1, 24, 1, True),  # others hold 74 of 100
        (1, 60, 10, False),  # this one does
        (95, 1, 1, False),  # there would have been room for much
    ],
)
def test_a_full_gpu_refutes_the_candidate_only_if_the_candidate_filled_it(monkeypatch, free, arena, reserved, taken):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free, 100))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: reserved)
    assert memory_is_taken(arena) == taken
