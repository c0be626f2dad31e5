"""Provides an archive in each kind of database. PostgreSQL is a real server on a socket in a temporary folder."""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.core.records.search import Run

_SETTINGS = ("listen_addresses=", "fsync=off", "max_connections=60", "shared_buffers=16MB")
_NUMBERS = count(1)


class Server:
    """A PostgreSQL server for this test session, run by a user other than root."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries, self._folder = binaries, folder
        self._user = _unprivileged()
        self._process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        if self._user:
            shutil.chown(self._folder, self._user)
        arguments = ("-U", "warpwright", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        command = [self._binaries / "initdb", "-D", self._folder / "data", *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, user=self._user, timeout=120)

    def start(self) -> None:
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        command = [self._binaries / "postgres", "-D", self._folder / "data", "-k", self._folder, *settings]
        with open(self._folder / "server.log", "ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self._folder, user=self._user
            )
        self._wait()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(timeout=60)
            self._process = None

    def room(self) -> str:
        """Returns the address of a new, empty schema; a separate database would take a second."""
        name = f"archive{next(_NUMBERS)}"
        self.execute(f"CREATE SCHEMA {name}")
        return f"postgresql://warpwright@/postgres?host={self._folder}&options=-csearch_path%3D{name}"

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        import psycopg

        address = {"host": str(self._folder), "user": "warpwright", "dbname": "postgres"}
        with psycopg.connect(**address, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def _wait(self) -> None:
        import psycopg

        deadline = time.monotonic() + 60
        while True:
            try:
                self.execute("SELECT 1")
                return
            except psycopg.OperationalError:
                assert self._process is not None
                if self._process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"PostgreSQL did not start: {(self._folder / 'server.log').read_text()[-500:]}")
                time.sleep(0.05)


def _unprivileged() -> str | None:
    """Changes the user, since PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in known), None)


def _binaries() -> Path | None:
    places = [shutil.which("initdb"), *sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)]
    resolved = [Path(place).resolve().parent for place in places if place]
    return next((folder for folder in resolved if (folder / "postgres").exists()), None)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server on this machine: apt install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="warpwright-pg-"))
    server = Server(binaries, folder)
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Returns the address of a new archive."""
    if request.param == "sqlite":
        return str(tmp_path / "archive.db")
    room: str = request.getfixturevalue("server").room()
    return room


@pytest.fixture
def archive(place: str) -> Iterator[Archive]:
    with open_archive(place) as archive:
        archive.begin(a_run("r1"))
        yield archive


def a_run(name: str, task: str = "paper/layernorm:forward") -> Run:
    return Run(id=name, task=task, seed=7, settings={"generations": 2}, started="2026-01-02T03:04:05", warpwright="0.1")


@pytest.fixture
def new_run() -> Callable[..., Run]:
    return a_run


Spawn = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Starts Python programs in separate processes, and kills those that are left over."""
    with contextlib.ExitStack() as stack:

        def start(code: str, *arguments: object, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
            command = [*before, sys.executable, "-c", code, *map(str, arguments)]
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start
