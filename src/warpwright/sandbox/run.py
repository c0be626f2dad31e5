"""Runs hostile code: compilers on a candidate's source, and the candidate's host code itself.

The command sees compilers, system libraries and headers, the paths that the caller names as readable, and one writable
folder. It has no network, none of our descriptors or environment variables and limited resources, and no process that
it started outlives it. Its results are plain data; only faults of ours raise. `isolation()` tells how strictly this
machine confines.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault
from warpwright.sandbox import session as sandbox_session
from warpwright.sandbox.isolation import Isolation, confinement, isolation
from warpwright.sandbox.limits import Limits

__all__ = ["Finished", "Isolation", "Limits", "discard", "harvest", "isolation", "run"]

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a command ended: by itself, with a return code or a signal, or stopped by us, with the reason."""

    returncode: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    reason: str | None
    """The limit that was exceeded, by a key of `Limits.sizes`, or why the command could not start."""
    limits: Limits = _DEFAULT_LIMITS

    @property
    def excess(self) -> str:
        """Explains `reason`, to follow the name of the command."""
        size = self.limits.sizes().get(self.reason or "")
        return f"went beyond the limit on {self.reason}, {size}" if size else f"could not be started: {self.reason}"

    def blame_machine(self, doing: str) -> None:
        """Raises a fault if this machine ended the command: too busy, or short of memory.

        The command's own time, busy or asleep, has separate limits, so exceeding the wall clock means that the machine
        was busy.
        """
        if self.reason == "wall clock":
            message = f"{doing} got too little of this machine to end within {self.seconds:.0f} s"
        elif self.reason is None and self.signal == signal.SIGKILL:
            message = f"{doing} was killed, by no limit of ours; the machine may be short of memory"
        else:
            return
        raise OurFault(Fault(where="sandbox", message=message, retryable=True))


def run(
    command: Sequence[str],
    *,
    readable: Sequence[Path] = (),
    writable: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    limits: Limits = _DEFAULT_LIMITS,
    stdin: bytes = b"",
    pass_fds: Sequence[int] = (),
) -> Finished:
    """Runs a command to its end or to the first exceeded limit; no process that it started survives.

    Paths appear under their resolved names. A writable folder serves one run at a time.
    """
    folder, shown = _places(writable, readable)
    variables = {"PATH": _PATH, "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8", **(env or {})}
    order = confinement() | {
        "command": [_executable(command[0], variables["PATH"]), *command[1:]],
        "env": variables,
        "cwd": str(cwd.resolve() if cwd else folder),
        "writable": str(folder),
        "readable": [str(path) for path in shown],
        "limits": asdict(limits),
    }
    return _finished(sandbox_session.run_order(order, stdin, pass_fds), limits)


def harvest(path: Path, limit: int) -> bytes | None:
    """Reads a file that a command left in its writable folder; None unless it is a regular file within `limit`.

    The name may be a link to a file of ours, an endless pipe, or a device.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    facts = os.fstat(descriptor)
    if not (stat.S_ISREG(facts.st_mode) and facts.st_size <= limit):
        os.close(descriptor)
        return None
    with open(descriptor, "rb") as file:
        return file.read(limit)


def discard(folder: Path) -> None:
    """Removes a folder that hostile code could write to, whatever its permissions and depth.

    Nested folders are first moved to the top, so that neither paths nor recursion grow with the depth.
    """
    number = 0
    folder.chmod(0o700)
    while inside := list(os.scandir(folder)):
        for entry in inside:
            for nested in _emptied(entry):
                number += 1
                nested.rename(folder / f".discarded-{os.getpid()}-{number}")
            os.rmdir(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
    folder.rmdir()


def _emptied(entry: os.DirEntry[str]) -> list[Path]:
    """Removes the files of a folder and returns the folders left in it."""
    if not entry.is_dir(follow_symlinks=False):
        return []
    os.chmod(entry.path, 0o700)
    left = []
    for inner in os.scandir(entry.path):
        if inner.is_dir(follow_symlinks=False):
            os.chmod(inner.path, 0o700)
            left.append(Path(inner.path))
        else:
            os.unlink(inner.path)
    return left


def _places(writable: Path, readable: Sequence[Path]) -> tuple[Path, list[Path]]:
    folder, shown = writable.resolve(), [path.resolve() for path in readable]
    if missing := [path for path in (folder, *shown) if not path.exists()]:
        raise OurFault(Fault(where="sandbox", message=f"{missing[0]} does not exist"))
    if inside := [path for path in shown if path.is_relative_to(folder)]:
        raise OurFault(Fault(where="sandbox", message=f"{inside[0]} is in the writable folder, so is not ours to show"))
    return folder, shown


def _executable(name: str, path: str) -> str:
    found = name if "/" in name else shutil.which(name, path=path)
    if found is None:
        raise OurFault(Fault(where="sandbox", message=f"{name} is not on {path}"))
    return os.path.abspath(found)


def _finished(session: sandbox_session.Session, limits: Limits) -> Finished:
    reply, status = session.reply, session.reply.get("status")
    if "fault" in reply:
        raise OurFault(Fault(where="sandbox", message=reply["fault"]))
    by_signal = status is not None and os.WIFSIGNALED(status)
    return Finished(
        returncode=os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None,
        signal=os.WTERMSIG(status) if status is not None and by_signal else None,
        stdout=session.stdout,
        stderr=session.stderr,
        seconds=session.seconds,
        reason=session.stopped or reply.get("unrunnable") or reply.get("passed") or None,
        limits=limits,
    )
