"""Commands over a pipe: executed or refused with a reason; a sender of malformed messages counts as gone."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest

from warpwright.judge.processes.link import Silence, receive, send, serve


class Adder:
    def add(self, left: int, right: int) -> dict[str, Any]:
        return {"sum": left + right}

    def fail(self) -> dict[str, Any]:
        raise ValueError("no such luck")

    def describe_error(self, error: Exception) -> dict[str, Any]:
        return {"error": type(error).__name__, "message": str(error)}


@pytest.fixture
def line() -> Iterator[Connection]:
    mine, theirs = multiprocessing.Pipe()

    def obey() -> None:
        with pytest.raises(SystemExit):
            serve(theirs, Adder)

    server = threading.Thread(target=obey)
    server.start()
    yield mine
    mine.close()
    server.join(timeout=60)
    assert not server.is_alive()


def test_a_command_is_answered_and_a_failure_described(line: Connection) -> None:
    send(line, {"do": "add", "left": 2, "right": 3})
    assert receive(line, 60) == {"ok": True, "sum": 5}
    send(line, {"do": "fail"})
    assert receive(line, 60) == {"ok": False, "error": "ValueError", "message": "no such luck"}
    send(line, {"do": "add", "left": 1, "right": 1})
    assert receive(line, 60)["sum"] == 2


@pytest.mark.parametrize("nonsense", [b"", b"\xff\xfe", b"[1, 2]", b'"ok"', b"{", b"NaN"])
def test_a_message_that_is_not_an_object_counts_as_silence(nonsense: bytes) -> None:
    mine, theirs = multiprocessing.Pipe()
    theirs.send_bytes(nonsense)
    with pytest.raises(Silence):
        receive(mine, 60)


def test_a_missed_deadline_and_an_ended_process_are_different_silences() -> None:
    mine, theirs = multiprocessing.Pipe()
    with pytest.raises(Silence) as late:
        receive(mine, 0.0)
    assert late.value.hung
    theirs.close()
    with pytest.raises(Silence) as gone:
        receive(mine, 60)
    assert not gone.value.hung
