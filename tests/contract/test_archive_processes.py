"""Many processes and threads at once, and killed processes: no acknowledged record is ever lost."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection

from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.records.search import Call, Lesson, Run, Session

Spawn = Callable[..., subprocess.Popen[str]]
HEAD = """
import sys
from warpwright.archive.opening import open_archive
from warpwright.core.records.search import Call, Lesson, Run
def call(name):
    return Call(id=name, brief=None, purpose="p", model="m", prompt=name * 50, seconds=1.0)
def say(*words):
    print(*words, flush=True)
"""
WRITER = f"""{HEAD}
place, me, count = sys.argv[1:]
say("ready"); sys.stdin.readline()
archive = open_archive(place)
archive.begin(Run(id="r1", task="t", seed=1, started="s", warpwright="0"))
for number in range(int(count)):
    assert archive.append("r1", call(f"{{me}}-{{number}}"))
say("lesson", archive.append("r1", Lesson(decision=1, text="the same for all")))
archive.close()
"""
PAIRS = f"""{HEAD}
archive = open_archive(sys.argv[1])
for number in range(int(sys.argv[2]), 10**6):
    with archive.transaction():
        archive.append("r1", call(f"left-{{number}}"))
        archive.append("r1", call(f"right-{{number}}"))
    say(number)
"""
HOLDER = f"""{HEAD}
archive = open_archive(sys.argv[1])
with archive.claim("r1"):
    say("held"); sys.stdin.readline()
say("released"); sys.stdin.readline()
"""


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def nudge(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def call(name: str) -> Call:
    return Call(id=name, brief=None, purpose="p", model="m", prompt="p", seconds=1.0)


def test_processes_that_all_open_and_write_a_new_archive_at_once(place: str, spawn: Spawn) -> None:
    writers = [spawn(WRITER, place, name, 20) for name in "abcd"]
    assert [read_line(writer) for writer in writers] == ["ready"] * 4
    for writer in writers:
        nudge(writer)
    said = [writer.communicate(timeout=120)[0].strip() for writer in writers]
    assert sorted(said) == ["lesson False"] * 3 + ["lesson True"]
    with open_archive(place) as archive:
        names = [item.id for item in archive.records("r1", Call)]
        assert len(list(archive.log("r1"))) == 81
    for name in "abcd":
        assert [item for item in names if item[0] == name] == [f"{name}-{number}" for number in range(20)]


def test_threads_share_an_archive(archive: Archive) -> None:
    def work(me: int) -> list[bool]:
        with archive.transaction():
            return [archive.append("r1", call(f"{me}-{number}")) for number in range(5)]

    with ThreadPoolExecutor(8) as pool:
        assert all(all(added) for added in pool.map(work, range(24)))
    names = [item.id for item in archive.records("r1", Call)]
    # Each transaction is one piece of the log, whatever the order of the pieces.
    assert [name.split("-")[1] for name in names] == list("01234") * 24
    assert len(set(names)) == 120


def test_a_killed_process_loses_no_acknowledged_record(place: str, spawn: Spawn, new_run: Any) -> None:
    chance, acknowledged = random.Random(11), -1
    with open_archive(place) as archive:
        archive.begin(new_run("r1"))
    for _ in range(4):
        writer = spawn(PAIRS, place, acknowledged + 1)
        for _ in range(chance.randrange(1, 40)):
            acknowledged = int(read_line(writer))
        writer.send_signal(signal.SIGKILL)
        assert writer.stdout is not None
        acknowledged = max([acknowledged, *map(int, writer.stdout.read().split())])
        writer.wait(timeout=60)
        acknowledged = check_pairs(place, acknowledged)


def check_pairs(place: str, acknowledged: int) -> int:
    """Checks that acknowledged records are stored, and at most one more pair, whose process was killed after its
    commit.
    """
    with open_archive(place) as archive:
        names = [item.id for item in archive.records("r1", Call)]
        pairs = len(names) // 2
        assert names == [f"{side}-{number}" for number in range(pairs) for side in ("left", "right")]
        assert acknowledged + 1 <= pairs <= acknowledged + 2
    check_sound(place)
    return pairs - 1


def check_sound(place: str) -> None:
    if "://" not in place:
        connection = sqlite3.connect(place)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()


def test_only_one_process_drives_a_run_and_a_second_learns_which(archive: Archive, place: str, spawn: Spawn) -> None:
    holder = spawn(HOLDER, place)
    assert read_line(holder) == "held"
    with pytest.raises(UsageError, match=f"r1 is in use by process {holder.pid} on "), archive.claim("r1"):
        pass
    nudge(holder)
    assert read_line(holder) == "released"
    with archive.claim("r1"):
        assert archive.append("r1", call("mine"))


def test_the_claim_of_a_killed_process_is_released(archive: Archive, place: str, spawn: Spawn) -> None:
    holder = spawn(HOLDER, place)
    assert read_line(holder) == "held"
    holder.kill()
    holder.wait(timeout=60)
    wait_for_claim(archive)
    with archive.claim("r1"):
        assert archive.append("r1", call("mine"))


def wait_for_claim(archive: Archive) -> None:
    """Waits: a server notices the end of a client moments later."""
    deadline = time.monotonic() + 60
    while True:
        try:
            with archive.claim("r1"):
                return
        except UsageError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_claims_of_one_process_exclude_each_other_run_by_run(archive: Archive, new_run: Any) -> None:
    archive.begin(new_run("r2"))
    with archive.claim("r1"), archive.claim("r2"):
        with pytest.raises(UsageError, match="r1 is in use by process"), archive.claim("r1"):
            pass
        assert archive.append("r1", Session(seconds=1.0, reason="done"))
    with archive.claim("r1"):
        pass


def test_a_claim_is_released_before_the_server_sees_its_connection_close(archive: Archive, monkeypatch: Any) -> None:
    lingering: list[Connection] = []
    with monkeypatch.context() as patch, archive.claim("r1"):
        patch.setattr(Connection, "close", lambda connection: lingering.append(connection))
    with archive.claim("r1"):
        for connection in lingering:
            connection.close()


def test_a_server_that_crashes_keeps_acknowledged_records(server: Any, new_run: Callable[..., Run]) -> None:
    with open_archive(server.room()) as archive:
        archive.begin(new_run("r1"))
        archive.append("r1", call("before"))
        with archive.claim("r1"):
            server.stop(signal.SIGQUIT)
            with pytest.raises(UsageError, match="cannot be reached"):
                archive.append("r1", call("lost"))
            server.start()
            # The claim died with the server's memory of it; another process may have taken the run since.
            with pytest.raises(OurFault, match="claim on run r1 was lost"):
                archive.append("r1", call("lost"))
        archive.append("r1", Lesson(decision=1, text="after"))
        assert [type(record) for record in archive.log("r1")] == [Call, Lesson]
