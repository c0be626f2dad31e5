"""Runs a function in a worker, as if in a new process; starts a worker for the next command."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence

from warpwright.worker import channel
from warpwright.worker.identity import socket_path

SWITCH = "WARPWRIGHT_WORKER"
"""The environment variable that, as `off`, keeps every command in a process of its own."""
_IDLE_SECONDS = "600"
_SIGNALS = 192
"""Larger codes stand for the signals that ended a fork."""
_LIMITS = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_STACK")


def is_wanted() -> bool:
    return hasattr(socket, "SO_PEERCRED") and os.environ.get(SWITCH, "") != "off" and "CI" not in os.environ


def connected() -> socket.socket | None:
    """A connection to the worker; None if there is none, or none is wanted."""
    if not is_wanted():
        return None
    caller = socket.socket(socket.AF_UNIX)
    try:
        caller.connect(str(socket_path()))
    except OSError:
        caller.close()
        return None
    return caller


def run(
    caller: socket.socket,
    function: str,
    files: Sequence[int],
    environment: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> int | None:
    """Runs a function with stdin, stdout and stderr; returns its exit code, negative for a signal, None if the worker
    died before it. TimeoutError ends the function.
    """
    with caller:
        caller.settimeout(seconds)
        try:
            channel.send(caller, _request(function, environment), files)
            answer = _answer(caller)
        except TimeoutError:
            raise
        except OSError:
            return None
        return _code(answer[0]) if answer else None


def start(modules: Sequence[str]) -> None:
    """Starts a worker that imports modules and then waits; one that is there already stays alone."""
    if is_wanted():
        idle = os.environ.get("WARPWRIGHT_WORKER_IDLE", _IDLE_SECONDS)
        subprocess.Popen(
            [sys.executable, "-m", "warpwright.worker.server", idle, *modules],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )


def _answer(caller: socket.socket) -> bytes:
    """Waits for the exit code. Ctrl-C reaches the fork, which answers when it has ended."""
    while True:
        try:
            return caller.recv(1)
        except KeyboardInterrupt:
            caller.sendall(b"i")


def _code(byte: int) -> int:
    return byte - 256 if byte > _SIGNALS else byte


def _request(function: str, environment: Mapping[str, str] | None) -> channel.Request:
    mask = os.umask(0)
    os.umask(mask)
    numbers = {getattr(resource, name) for name in _LIMITS}
    return channel.Request(
        function=function,
        arguments=tuple(sys.argv),
        folder=os.getcwd(),
        environment=dict(os.environ if environment is None else environment),
        umask=mask,
        niceness=os.nice(0),
        limits={str(number): resource.getrlimit(number) for number in sorted(numbers)},
    )
