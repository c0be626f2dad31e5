"""Processes that are started ahead: taken in order, and only while they live."""

from functools import partial

import pytest

from warpwright.core.errors import OurFault
from warpwright.core.evidence import Fault
from warpwright.judge import cells
from warpwright.judge.cells import Process, Spares
from warpwright.judge.link import serve


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

    def end(self):
        self.killed = True

    def bury(self):
        self.buried = True

    kill = end
    is_up = Process.is_up


@pytest.fixture
def spares(monkeypatch):
    monkeypatch.setattr(cells, "Process", Started)
    return Spares("cell")


def test_those_that_wait_are_taken_and_others_started_when_none_does(spares):
    spares.start(2)
    waiting = list(spares._waiting)
    with spares.taken() as first, spares.taken() as second, spares.taken() as third:
        assert [first, second] == waiting
        assert third not in waiting


def test_each_ends_after_its_use_and_is_waited_for_before_the_next(spares):
    with spares.taken() as first:
        assert not first.killed
    assert (first.killed, first.buried) == (True, False)
    with spares.taken() as second:
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
    with spares.taken() as taken:
        assert taken is second
    third.kill()
    spares.settle()
    assert spares._waiting == []


def test_all_that_wait_are_killed_at_the_end(spares):
    spares.start(2)
    waiting = list(spares._waiting)
    spares.close()
    assert all(item.killed for item in waiting)


def test_one_that_is_hung_up_on_leaves_by_itself():
    process = Process(partial(serve, make=object, told=vars))
    process.hang_up()
    process.bury()
    assert process._process.exitcode == 0
