"""The sandbox as seen from its caller."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warpwright.core.errors import OurFault
from warpwright.sandbox import run as sandbox

from .conftest import Villain, alive

SOURCE = str(Path(sandbox.__file__).parents[2])


def test_isolation_describes_the_confinement() -> None:
    found = sandbox.isolation()
    assert found.mode in {"user namespaces", "privileged namespaces", "process tree"}
    assert ("pid" in found.namespaces) == (found.mode != "process tree")
    assert found is not sandbox.isolation()
    assert found == sandbox.isolation()


def test_harvest_reads_regular_files_only(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"12345")
    os.mkfifo(tmp_path / "pipe")
    os.symlink(plain, tmp_path / "link")
    assert sandbox.harvest(plain, 5) == b"12345"
    assert sandbox.harvest(plain, 4) is None
    for name in ("pipe", "link", "absent", "."):
        assert sandbox.harvest(tmp_path / name, 100) is None


def test_discard_removes_closed_folders_and_follows_no_link(tmp_path: Path) -> None:
    kept, doomed = tmp_path / "kept", tmp_path / "doomed"
    (kept / "inner").mkdir(parents=True)
    (doomed / "a" / "b" / "c").mkdir(parents=True)
    (doomed / "a" / "b" / "file").write_text("x")
    os.symlink(kept, doomed / "a" / "link")
    os.symlink(kept, doomed / "link")
    for closed in (doomed / "a" / "b", doomed / "a"):
        closed.chmod(0)
    sandbox.discard(doomed)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (kept / "inner").is_dir()


def test_a_readable_path_must_not_be_in_the_writable_folder(folder: Path) -> None:
    (folder / "header").write_text("")
    with pytest.raises(OurFault, match="writable"):
        sandbox.run(["true"], readable=[folder / "header"], writable=folder)


def test_a_missing_folder_is_our_fault(tmp_path: Path) -> None:
    with pytest.raises(OurFault, match="does not exist"):
        sandbox.run(["true"], writable=tmp_path / "absent")


def test_many_threads_run_at_once(tmp_path: Path) -> None:
    def one(number: int) -> bytes:
        place = tmp_path / str(number)
        place.mkdir()
        return sandbox.run(["sh", "-c", f"echo {number}"], writable=place).stdout

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(16))) == [f"{number}\n".encode() for number in range(16)]


def _await(token: str, count: int) -> None:
    for _ in range(400):
        if len(alive(token)) == count:
            return
        time.sleep(0.05)
    pytest.fail(f"expected {count} processes, found {alive(token)}")


@pytest.mark.usefixtures("way")
def test_no_process_survives_when_ours_is_killed(villain_binary: Path, folder: Path, way: str) -> None:
    token = uuid.uuid4().hex
    code = (
        f"import sys; sys.path.insert(0, {SOURCE!r})\n"
        "from pathlib import Path\n"
        "from warpwright.sandbox import run as sandbox\n"
        f"sandbox.confinement = lambda: {sandbox.confinement()!r}\n"
        f"sandbox.run([{str(villain_binary)!r}, 'sleep', {token[:16]!r} + {token[16:]!r}],"
        f" readable=[Path({str(villain_binary)!r})], writable=Path({str(folder)!r}))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    _await(token, 1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _await(token, 0)


def test_an_interrupt_ends_the_run(villain_binary: Path, folder: Path) -> None:
    token = uuid.uuid4().hex
    words = [str(villain_binary), "sleep", token]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            sandbox.run(words, readable=[villain_binary], writable=folder)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    _await(token, 0)


def test_an_ordinary_user_is_confined_too() -> None:
    """Needs a Python that other users can start, unlike possibly the one that runs this test."""
    python = Path("/usr/bin/python3")
    if os.geteuid() != 0 or not python.exists():
        pytest.skip("needs root, to become someone else, and /usr/bin/python3")
    code = (
        f"import sys; sys.path.insert(0, {SOURCE!r})\n"
        "import tempfile; from pathlib import Path\n"
        "from warpwright.sandbox import run as sandbox\n"
        "with tempfile.TemporaryDirectory() as place:\n"
        "    done = sandbox.run(['sh', '-c', 'id -u; cat /etc/passwd; cat /proc/1/environ'], writable=Path(place))\n"
        "    bomb = ['python3', '-c', 'import os\\nwhile True: os.fork()']\n"
        "    bomb = sandbox.run(bomb, writable=Path(place), limits=sandbox.Limits(wall_s=20))\n"
        "print(done.stdout.decode().strip(), done.returncode, bomb.reason, sandbox.isolation().mode)\n"
    )
    result = subprocess.run(
        [str(python), "-c", code], user=4242, group=4242, extra_groups=[], cwd="/", env={}, capture_output=True
    )
    if b"SyntaxError" in result.stderr or b"Permission denied: '/" in result.stderr:
        pytest.skip("the system's Python cannot read or run this code")
    assert result.stdout.split()[:3] == [b"4242", b"1", b"processes"], result.stderr.decode()


def test_villain_runs_under_the_default(villain: Villain) -> None:
    assert villain("exit", 5).returncode == 5
