"""The worker: accepts requests of its own user, forks for each, and ends when idle or when our sources change."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path

from warpwright.worker import channel, forked
from warpwright.worker.identity import socket_path

_TICK_SECONDS = 10.0


@dataclass(slots=True, kw_only=True)
class Worker:
    listening: socket.socket
    path: Path
    idle_seconds: float
    _running: dict[int, socket.socket] = field(default_factory=dict)
    """The caller of each fork, by process id."""
    _used: float = field(default_factory=time.monotonic)
    _selector: selectors.DefaultSelector = field(default_factory=selectors.DefaultSelector)

    def serve(self) -> None:
        self._selector.register(self.listening, selectors.EVENT_READ, self._accept)
        self._selector.register(_ended_forks(), selectors.EVENT_READ)
        while self._running or not self._is_over():
            for key, _ in self._selector.select(_TICK_SECONDS):
                key.data() if key.data else os.read(key.fd, 64)
            self._reap()

    def _is_over(self) -> bool:
        """Whether it was idle for long, or callers look for another worker by now."""
        return time.monotonic() - self._used > self.idle_seconds or socket_path() != self.path

    def _accept(self) -> None:
        caller, _ = self.listening.accept()
        caller.settimeout(5.0)
        try:
            request, files = channel.receive(caller)
        except (OSError, ValueError, TypeError, KeyError):
            caller.close()
            return
        process = os.fork()
        if not process:
            self._become(request, files)
        for file in files:
            os.close(file)
        self._running[process] = caller
        self._selector.register(caller, selectors.EVENT_READ, partial(self._hear, process))

    def _become(self, request: channel.Request, files: list[int]) -> None:
        """Runs the request in this fork, which ends here."""
        code = 1
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            self._selector.close()
            self.listening.close()
            for caller in self._running.values():
                caller.close()
            code = forked.run(request, files)
        finally:
            os._exit(code)

    def _hear(self, process: int) -> None:
        """Forwards the caller's Ctrl-C; a caller that has gone takes its fork along."""
        try:
            said = self._running[process].recv(1)
        except OSError:
            said = b""
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGINT if said else signal.SIGKILL)
        if not said:
            self._selector.unregister(self._running[process])

    def _reap(self) -> None:
        while self._running:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            caller = self._running.pop(process)
            with suppress(OSError):
                caller.sendall(bytes([os.waitstatus_to_exitcode(status) & 0xFF]))
            with suppress(KeyError, ValueError):
                self._selector.unregister(caller)
            caller.close()
            self._used = time.monotonic()


def _ended_forks() -> int:
    """A file that becomes readable when a fork ends."""
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing)
    return reading


def main() -> None:
    """`python -m warpwright.worker.server SECONDS MODULE...`: imports the modules first, then listens."""
    path, seconds, modules = socket_path(), float(sys.argv[1]), sys.argv[2:]
    for name in modules:
        import_module(name)
    with socket.socket(socket.AF_UNIX) as listening:
        os.umask(0o177)
        if not _bound(listening, path):
            return
        listening.listen(64)
        try:
            Worker(listening=listening, path=path, idle_seconds=seconds).serve()
        finally:
            with suppress(FileNotFoundError):
                path.unlink()


def _bound(listening: socket.socket, path: Path) -> bool:
    """Binds the socket, in the place of one that no worker listens on any more; False if another worker is there."""
    with socket.socket(socket.AF_UNIX) as other, suppress(OSError):
        other.connect(str(path))
        return False
    with suppress(FileNotFoundError):
        path.unlink()
    listening.bind(str(path))
    return True


if __name__ == "__main__":
    main()
