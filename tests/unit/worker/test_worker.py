"""The warm worker: runs what a new process would run, for its own user and sources only."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpwright import __version__
from warpwright.worker import client
from warpwright.worker.identity import identity, socket_path

RUN = "warpwright.cli.main:run"


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[bytes]]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        patch.delenv(client.SWITCH)
        patch.delenv("CI", raising=False)
        process = subprocess.Popen([sys.executable, "-m", "warpwright.worker.server", "600"], cwd="/")
        deadline = time.monotonic() + 120
        while (caller := client.connected()) is None:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        caller.close()
        yield process
        process.kill()
        process.wait()


def ran(tmp_path: Path, function: str, *arguments: str) -> tuple[int | None, str]:
    """The exit code and everything printed."""
    caller = client.connected()
    assert caller is not None
    before, sys.argv = sys.argv, ["warpwright", *arguments]
    try:
        with (tmp_path / "out").open("w+") as out, open(os.devnull) as nothing:
            code = client.run(caller, function, (nothing.fileno(), out.fileno(), out.fileno()))
            out.seek(0)
            return code, out.read()
    finally:
        sys.argv = before


def forks(process: subprocess.Popen[bytes]) -> list[str]:
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


@pytest.mark.usefixtures("server")
def test_a_command_gives_the_output_and_exit_code_that_it_gives_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ran(tmp_path, RUN, "--version") == (0, f"warpwright {__version__}\n")
    monkeypatch.chdir(tmp_path)
    code, said = ran(tmp_path, RUN, "check", "absent.cu", "--ref", "absent.py:fn", "--input", "8")
    assert code == 2
    assert "absent.py" in said


@pytest.mark.usefixtures("server")
def test_only_functions_of_ours_are_run(tmp_path: Path) -> None:
    assert ran(tmp_path, "os:abort") == (4, "")


def test_what_takes_too_long_dies_with_its_caller(server: subprocess.Popen[bytes]) -> None:
    caller = client.connected()
    assert caller is not None
    reading, writing = os.pipe()
    try:
        with pytest.raises(TimeoutError):
            client.run(caller, "warpwright.tasks.probing.child.__main__:main", (reading, writing, writing), seconds=0.2)
        deadline = time.monotonic() + 60
        while forks(server) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not forks(server)
    finally:
        os.close(reading)
        os.close(writing)


def test_a_folder_that_others_can_enter_holds_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / f"warpwright-{os.getuid()}").mkdir()
    (tmp_path / f"warpwright-{os.getuid()}").chmod(0o755)
    with pytest.raises(PermissionError):
        socket_path()


def test_what_libraries_read_at_import_makes_another_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity()
    monkeypatch.setenv("COLUMNS", "123")
    assert identity() == before
    monkeypatch.setenv("OMP_NUM_THREADS", "123")
    assert identity() != before


def test_a_switch_keeps_commands_in_their_own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(client.SWITCH, "off")
    assert client.connected() is None
