"""Attempts of hostile code to reach beyond the sandbox, in every mode that this machine supports."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from warpwright.sandbox import run as sandbox

from .conftest import Villain

pytestmark = pytest.mark.usefixtures("way")


def answers(finished: sandbox.Finished) -> dict[str, str]:
    assert finished.reason is None, finished
    lines = finished.stdout.decode().splitlines()
    return {word: said for word, _, said in (line.partition(" ") for line in lines)}


def test_no_socket_reaches_a_listener_of_ours(villain: Villain) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        said = answers(villain("connect", listener.getsockname()[1]))
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert "ok" not in said.values()
    assert set(said) == {"tcp", "udp", "netlink", "unix"}


def test_files_of_ours_cannot_be_read(villain: Villain, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    paths = ["/etc/shadow", "/etc/passwd", "/root/.bashrc", str(Path.home()), __file__, str(secret), "/var/log"]
    paths += [f"/proc/{os.getpid()}/environ", f"/proc/{os.getpid()}/mem", f"/proc/{os.getppid()}/cmdline"]
    said = answers(villain("read", *paths))
    assert set(said) == set(paths)
    assert "ok" not in said.values()


def test_proc_and_devices_give_no_access(villain: Villain) -> None:
    said = answers(villain("proc"))
    assert len(said) == 10
    assert "ok" not in said.values()


def test_only_the_writable_folder_can_be_written(villain: Villain, folder: Path, tmp_path: Path) -> None:
    outside = ["/tmp/x", "/x", "/usr/x", "/dev/shm/x", "/etc/x", str(tmp_path / "x"), f"{folder}/../y"]
    said = answers(villain("write", *outside, f"{folder}/inside"))
    assert said.pop(f"{folder}/inside") == "ok"
    assert "ok" not in said.values()
    assert [path.name for path in tmp_path.iterdir()] == ["writable"]


def test_files_that_a_command_wrote_belong_to_us_afterwards(villain: Villain, folder: Path) -> None:
    villain("write", "inside")
    facts = (folder / "inside").stat()
    assert (facts.st_uid, facts.st_gid) == (os.getuid(), os.getgid())
    assert folder.stat().st_uid == os.getuid()


def test_readable_folders_closed_to_others_can_be_read_and_not_written(
    villain: Villain, tmp_path: Path, folder: Path
) -> None:
    shown = tmp_path / "shown"
    shown.mkdir(mode=0o700)
    (shown / "header.h").write_text("x")
    (shown / "header.h").chmod(0o600)
    command = ["/bin/sh", "-c", f"cat {shown}/header.h; echo y >> {shown}/header.h; touch {shown}/new"]
    finished = sandbox.run(command, readable=[shown], writable=folder)
    assert finished.stdout == b"x"
    assert finished.returncode != 0
    assert (shown / "header.h").read_text() == "x"
    assert not (shown / "new").exists()


def test_links_give_no_access(villain: Villain, folder: Path) -> None:
    said = answers(villain("link", "/etc/shadow"))
    assert said["symbolic"] == "ok"
    assert said["hard"] != "ok"
    assert said["through"] != "ok"
    assert sandbox.harvest(folder / "symbolic", 1 << 20) is None


def test_calls_that_reach_beyond_the_process_are_refused(villain: Villain) -> None:
    said = answers(villain("forbidden"))
    assert len(said) == 14
    assert {word: said[word] for word in said if said[word] == "ok"} == {}


def test_our_processes_survive_signals_of_a_command(villain: Villain) -> None:
    finished = villain("kill", os.getpid())
    said = answers(finished)
    assert said["named"] != "ok"
    assert said["group"] != "ok"
    assert finished.returncode == 0 or finished.signal is not None


def test_a_command_inherits_no_descriptor(villain: Villain) -> None:
    read, write = os.pipe()
    os.set_inheritable(write, True)
    assert villain("descriptors").stdout.split() == [b"0", b"1", b"2"]
    os.close(read)
    os.close(write)


def test_requested_descriptors_are_passed(villain: Villain) -> None:
    read, write = os.pipe()
    assert villain("descriptors", pass_fds=[write]).stdout.split() == [b"0", b"1", b"2", str(write).encode()]
    os.close(read)
    os.close(write)


def test_the_environment_of_a_command_is_clean(villain: Villain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPWRIGHT_TEST_KEY", "secret")
    lines = villain("environment", env={"EXTRA": "1"}).stdout.decode().splitlines()
    assert {line.partition("=")[0] for line in lines} == {"PATH", "HOME", "TMPDIR", "LC_ALL", "EXTRA"}


def test_signals_of_a_command_have_their_defaults(villain: Villain) -> None:
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)  # as a shell does for what it starts in the background
    try:
        assert villain("signals").stdout == b""
    finally:
        signal.signal(signal.SIGQUIT, before)


def test_the_compiler_includes_no_file_that_is_not_shown(folder: Path) -> None:
    (folder / "a.cpp").write_text('asm(".incbin \\"/etc/passwd\\"");')
    finished = sandbox.run(["g++", "-c", "a.cpp"], writable=folder)
    assert finished.returncode == 1
    assert b"/etc/passwd" in finished.stderr
    assert not (folder / "a.o").exists()
