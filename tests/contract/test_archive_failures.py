"""Full or read-only disks, damaged files, writers that never end: each gives one sentence and loses no record."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from warpwright.archive.database import engine
from warpwright.archive.database.faults import in_words
from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.core.candidate import Candidate
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.records.search import Lesson, Run, Session

Spawn = Callable[..., subprocess.Popen[str]]
HEAD = """
import pathlib, subprocess, sys
from warpwright.archive.opening import open_archive
from warpwright.core.errors import WarpwrightError
from warpwright.core.records.search import Call, Lesson, Run
folder = pathlib.Path(sys.argv[1])
place = folder / "archive.db"
"""
FILLS_THE_DISK = f"""{HEAD}
ballast = folder / "ballast"
ballast.write_bytes(bytes(1 << 20))
archive = open_archive(place)
archive.begin(Run(id="r1", task="t", seed=1, started="s", warpwright="0"))
def call(number):
    return Call(id=str(number), brief=None, purpose="p", model="m", prompt="x" * 20000, seconds=1.0)
done = 0
try:
    while True:
        archive.append("r1", call(done))
        done += 1
except WarpwrightError as error:
    print(type(error).__name__, error.fault.retryable, str(error))
try:
    with archive.transaction():
        try:
            for number in range(done, done + 200):
                archive.append("r1", call(number))
        except WarpwrightError:
            pass  # whoever goes on after a failure must not be told that all went well
    print("not told")
except WarpwrightError as error:
    print(type(error).__name__)
ballast.unlink()
assert archive.append("r1", call(done))
archive.close()
with open_archive(place) as archive:
    print(done > 5, [item.id for item in archive.records("r1", Call)] == [str(number) for number in range(done + 1)])
"""
READS_ONLY = f"""{HEAD}
with open_archive(place) as archive:
    archive.begin(Run(id="r1", task="t", seed=1, started="s", warpwright="0"))
subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
for path in (place, folder / "new.db", folder / "a" / "b.db"):
    try:
        open_archive(path)
    except WarpwrightError as error:
        print(type(error).__name__, str(error))
"""
PRIVATE_DISK = 'mount -t tmpfs -o size=4m none "$0" && exec "$@"'


@pytest.fixture
def private_disk(tmp_path: Path) -> tuple[str, ...]:
    """Returns a command prefix that mounts a small private disk in the temporary folder."""
    before = ("unshare", "-rm", "sh", "-c", PRIVATE_DISK, str(tmp_path))
    if not shutil.which("unshare") or subprocess.run([*before, "true"], capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount a disk of their own")
    return before


def test_a_full_disk_loses_no_record_and_is_reported(
    tmp_path: Path, spawn: Spawn, private_disk: tuple[str, ...]
) -> None:
    said = spawn(FILLS_THE_DISK, tmp_path, before=private_disk).communicate(timeout=120)[0].splitlines()
    assert said[0].startswith(f"OurFault True archive {tmp_path}/archive.db: the disk ")
    assert "full; acknowledged records are kept" in said[0]
    assert said[1:] == ["OurFault", "True True"]


def test_a_read_only_disk_is_named(tmp_path: Path, spawn: Spawn, private_disk: tuple[str, ...]) -> None:
    said = spawn(READS_ONLY, tmp_path, before=private_disk).communicate(timeout=120)[0].splitlines()
    assert len(said) == 3
    for line, name in zip(said, ("archive.db", "new.db", "a/b.db"), strict=True):
        assert line.startswith(f"UsageError the archive {tmp_path}/{name} ")


def test_a_file_of_another_kind_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text("__global__ void f() {}\n" * 100)
    with pytest.raises(UsageError, match="is a file of another kind"):
        open_archive(path)
    assert path.read_text() == "__global__ void f() {}\n" * 100


def test_a_path_below_a_file_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be opened or made: "):
        open_archive(tmp_path / "file" / "archive.db")


def test_a_damaged_file_is_our_fault(tmp_path: Path, new_run: Callable[..., Run]) -> None:
    path = tmp_path / "archive.db"
    with open_archive(path) as archive:
        archive.begin(new_run("r1"))
        archive.append("r1", Lesson(decision=1, text="x" * 20000))
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(OurFault, match="the file is damaged"):
        open_archive(path).runs()


def test_waiting_for_another_writer_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_run: Callable[..., Run]
) -> None:
    monkeypatch.setattr(engine, "BUSY_S", 0.05)
    with open_archive(tmp_path / "archive.db") as archive:
        archive.begin(new_run("r1"))
        other = sqlite3.connect(tmp_path / "archive.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OurFault, match="kept it busy for too long") as caught:
            archive.append("r1", Lesson(decision=1, text="late"))
        assert caught.value.fault.retryable
        assert archive.run("r1") == new_run("r1"), "readers do not wait for writers"
        other.execute("ROLLBACK")
        other.close()
        assert archive.append("r1", Lesson(decision=1, text="late"))


def test_a_record_that_this_version_cannot_read_is_named(tmp_path: Path, new_run: Callable[..., Run]) -> None:
    path = tmp_path / "archive.db"
    with open_archive(path) as archive:
        archive.begin(new_run("r1"))
        archive.append("r1", Session(seconds=1.0, reason="done"))
        archive.begin(new_run("r2"))
        archive.append("r2", Lesson(decision=1, text="loads"))
        other = sqlite3.connect(path)
        other.execute("""UPDATE records SET body = '{"seconds":1.0,"mood":"good"}' WHERE run = 'r1'""")
        other.execute("UPDATE records SET kind = 'dream' WHERE run = 'r2'")
        other.commit()
        other.close()
        with pytest.raises(OurFault, match=r"record 1 of run r1 cannot be read, .*unknown key 'mood'"):
            archive.records("r1", Session)
        with pytest.raises(OurFault, match=r"record 1 of run r2 .*: a dream is nothing this version knows"):
            list(archive.log("r2"))


def test_an_error_caught_inside_a_transaction_still_fails_the_transaction(archive: Archive) -> None:
    def go_on_regardless() -> None:
        with archive.transaction():
            archive.append("r1", Lesson(decision=1, text="first"))
            with pytest.raises(OurFault):
                archive.keep(Unstorable(source="x"))
            archive.runs()

    with pytest.raises(OurFault):
        go_on_regardless()
    assert list(archive.log("r1")) == []


class Unstorable(Candidate):
    """A candidate whose id the database rejects."""

    id = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("code", "kind", "words", "retryable"),
    [
        ("53100", OurFault, "the server's disk is full", True),
        ("53300", OurFault, "too many connections", True),
        ("40P01", OurFault, "two writers", True),
        ("55P03", OurFault, "kept it busy", True),
        ("57P01", OurFault, "stopping or starting", True),
        ("XX000", OurFault, "what it said", False),
        ("42501", UsageError, "does not let this user do that", None),
        ("28P01", UsageError, "check user and password", None),
        ("3D000", UsageError, "create the database first", None),
    ],
)
def test_each_error_of_a_server_has_its_sentence(
    code: str, kind: type[Exception], words: str, retryable: bool | None
) -> None:
    cause = RuntimeError("what it said\nand at length")
    cause.sqlstate = code  # type: ignore[attr-defined]
    found = in_words(DBAPIError("INSERT", None, cause), "here")
    assert type(found) is kind
    assert words in str(found)
    assert "\n" not in str(found)
    assert retryable is None or (isinstance(found, OurFault) and found.fault.retryable is retryable)
