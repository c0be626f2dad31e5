"""Limits end a command, and no process of it survives."""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from warpwright.core.errors import OurFault
from warpwright.sandbox import run as sandbox

from .conftest import Villain, alive

pytestmark = pytest.mark.usefixtures("way")
SMALL = sandbox.Limits(wall_s=20, cpu_s=10, memory_bytes=1 << 29, processes=32)


def test_return_code_and_streams(villain: Villain) -> None:
    finished = villain("echo", stdin=b"a" * 200_000)
    assert (finished.returncode, finished.signal, finished.reason) == (0, None, None)
    assert finished.stdout == b"a" * 200_000
    assert villain("exit", 3).returncode == 3


def test_a_signal_is_reported(villain: Villain) -> None:
    finished = villain("segfault")
    assert (finished.returncode, finished.reason) == (None, None)
    assert finished.signal is not None


def test_a_fork_bomb_ends(villain: Villain) -> None:
    if os.getuid() == 0 and not sandbox.confinement()["own_user"]:
        pytest.skip("no limit of the kernel binds user 0: while the watcher looks, the whole machine could be filled")
    token = uuid.uuid4().hex
    assert villain("fork-bomb", token).reason == "processes"
    assert alive(token) == []


def test_too_many_processes_are_ended(villain: Villain) -> None:
    token = uuid.uuid4().hex
    assert villain("crowd", token).reason == "processes"
    assert alive(token) == []


def test_a_daemon_does_not_outlive_the_run(villain: Villain) -> None:
    token = uuid.uuid4().hex
    finished = villain("daemon", token)
    assert finished.returncode == 0
    assert alive(token) == []


def test_an_endless_loop_ends_by_its_processor_time(villain: Villain) -> None:
    assert villain("spin", limits=replace(SMALL, cpu_s=0.2)).reason == "cpu time"


def test_an_endless_sleep_ends_by_wall_clock(villain: Villain) -> None:
    token = uuid.uuid4().hex
    assert villain("sleep", token, limits=replace(SMALL, wall_s=0.3)).reason == "wall clock"
    assert alive(token) == []


def test_an_endless_sleep_ends_by_idle_time(villain: Villain) -> None:
    token = uuid.uuid4().hex
    finished = villain("sleep", token, limits=replace(SMALL, idle_s=0.3, wall_s=300))
    assert finished.reason == "idle time"
    finished.blame_machine("it")
    assert alive(token) == []


def test_threads_at_work_are_not_idle(villain: Villain) -> None:
    limits = replace(SMALL, idle_s=0.05, cpu_s=0.2, wall_s=300)
    assert villain("spin-in-thread", limits=limits).reason == "cpu time"


@pytest.mark.parametrize(
    ("change", "says"),
    [({"reason": "wall clock"}, "too little of this machine"), ({"signal": 9}, "short of memory")],
)
def test_a_command_ended_by_the_machine_is_our_fault(change: dict[str, object], says: str) -> None:
    done = sandbox.Finished(returncode=None, signal=None, stdout=b"", stderr=b"", seconds=1.0, reason=None)
    with pytest.raises(OurFault, match=says) as caught:
        replace(done, **change).blame_machine("compiling")  # type: ignore[arg-type]
    assert caught.value.fault.retryable
    replace(done, reason="cpu time", signal=9).blame_machine("compiling")


def test_one_process_gets_no_more_memory_than_allowed(villain: Villain) -> None:
    finished = villain("hold", 100 << 30)
    assert finished.returncode == 9


def test_many_processes_get_no_more_memory_together(villain: Villain) -> None:
    assert villain("children", limits=replace(SMALL, memory_bytes=128 << 20)).reason == "memory"


def test_too_much_output_is_cut_off(villain: Villain) -> None:
    finished = villain("flood", limits=replace(SMALL, output_bytes=100_000))
    assert finished.reason == "output"
    assert len(finished.stdout) + len(finished.stderr) == 100_000


def test_one_file_grows_no_further_than_allowed(villain: Villain, folder: Path) -> None:
    finished = villain("large-file", limits=replace(SMALL, file_bytes=3 << 20))
    assert finished.reason == "file size"
    assert (folder / "large").stat().st_size == 3 << 20


def test_many_files_fill_no_more_than_allowed(villain: Villain) -> None:
    finished = villain("files", limits=replace(SMALL, disk_bytes=20 << 20))
    assert finished.excess == "went beyond the limit on disk space, 20 MiB"


def test_endlessly_nested_folders_are_stopped_and_discarded(villain: Villain, folder: Path) -> None:
    assert villain("folders").excess == "went beyond the limit on files, 20000 in folders 64 deep"
    sandbox.discard(folder)
    assert not folder.exists()


def test_a_missing_program_in_the_writable_folder_is_the_commands_failure(folder: Path) -> None:
    (folder / "text").write_text("not a program")
    (folder / "text").chmod(0o755)
    for name in ("absent", "text"):
        finished = sandbox.run([str(folder / name)], writable=folder)
        assert (finished.returncode, finished.signal) == (None, None)
        assert finished.reason is not None
        assert name in finished.reason


@pytest.mark.parametrize("command", ["no-such-program-anywhere", "/usr/no-such-program"])
def test_a_missing_program_of_ours_is_our_fault(folder: Path, command: str) -> None:
    with pytest.raises(OurFault, match="no-such-program"):
        sandbox.run([command], writable=folder)


def test_our_working_directory_does_not_change(villain: Villain, folder: Path) -> None:
    os.symlink("/etc", folder / "elsewhere")
    before = Path("/etc").stat().st_uid
    villain("write", "inside")
    assert Path("/etc").stat().st_uid == before
