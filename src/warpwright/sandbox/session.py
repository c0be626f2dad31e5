"""One sandboxed run as seen from our process: starts the launcher, sends the order, collects output and the reply.

The command writes to pipes that this process reads. Limits on output and wall clock are enforced here, the others by
the launcher. If this process dies, the launcher sees its control socket close and ends everything.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault

_CHUNK = 1 << 16
_GRACE_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    reply: dict[str, Any]
    stopped: str | None
    """Why this process stopped the command: wall clock or output."""
    stdout: bytes
    stderr: bytes
    seconds: float


def run_order(order: dict[str, Any], stdin: bytes = b"", pass_fds: Sequence[int] = ()) -> Session:
    start = time.monotonic()
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with control:
        with theirs, _as_file(stdin) as given:
            process = _launch(theirs.fileno(), given, pass_fds)
        with _ending(process):
            control.send(marshal.dumps(order))
            listener = _Listener(process, control, order["limits"], start)
            listener.listen()
    return Session(
        reply=listener.reply,
        stopped=listener.stopped,
        stdout=bytes(listener.output[0]),
        stderr=bytes(listener.output[1]),
        seconds=time.monotonic() - start,
    )


@contextlib.contextmanager
def _as_file(stdin: bytes) -> Iterator[IO[bytes]]:
    """Provides stdin as a file, so that a command that never reads cannot block us."""
    descriptor = os.memfd_create("stdin") if stdin else os.open(os.devnull, os.O_RDWR)
    with open(descriptor, "r+b", buffering=0) as file:
        if stdin:
            os.truncate(descriptor, len(stdin))
            os.pwrite(descriptor, stdin, 0)
        yield file


def _launch(control: int, stdin: IO[bytes], pass_fds: Sequence[int]) -> subprocess.Popen[bytes]:
    source = str(Path(__file__).parents[2])
    launcher = "from warpwright.sandbox.launcher import main"
    code = f"import sys; sys.path.insert(0, {source!r}); {launcher}; main({control})"
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(control, *pass_fds),
            env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise OurFault(Fault(where="sandbox", message=f"cannot start the launcher: {error}", retryable=True)) from None


@contextlib.contextmanager
def _ending(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ends the launcher, and with it the sandboxed processes, however this process leaves the block."""
    try:
        yield
    except BaseException:
        process.kill()
        raise
    finally:
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(slots=True)
class _Listener:
    """Reads both outputs and the reply until all three are closed."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    limits: dict[str, float]
    start: float
    output: tuple[bytearray, bytearray] = field(default_factory=lambda: (bytearray(), bytearray()))
    reply: dict[str, Any] = field(default_factory=dict)
    stopped: str | None = None

    def listen(self) -> None:
        deadline = self.start + self.limits["wall_s"]
        with selectors.DefaultSelector() as selector:
            for number, pipe in enumerate((self.process.stdout, self.process.stderr)):
                selector.register(pipe, selectors.EVENT_READ, self.output[number])  # type: ignore[arg-type]
            selector.register(self.control, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    deadline = self._out_of_time()
                for key, _ in ready:
                    if not self._take(key):
                        selector.unregister(key.fileobj)
        if not self.reply:
            raise OurFault(Fault(where="sandbox", message="the launcher ended without a reply", retryable=True))

    def _out_of_time(self) -> float:
        """Stops the command when its time is up; the second time the launcher itself does not answer."""
        if self.stopped is not None:
            raise OurFault(Fault(where="sandbox", message="the launcher does not answer", retryable=True))
        self._stop("wall clock")
        return time.monotonic() + _GRACE_S

    def _stop(self, why: str) -> None:
        self.stopped = why
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_WR)

    def _take(self, key: selectors.SelectorKey) -> bool:
        data = os.read(key.fd, _CHUNK)
        if key.data is None:
            self.reply.update(marshal.loads(data) if data else {})
        else:
            room = int(self.limits["output_bytes"]) - sum(map(len, self.output))
            key.data.extend(data[: max(0, room)])
            if len(data) > room and self.stopped is None:
                self._stop("output")
        return bool(data)
