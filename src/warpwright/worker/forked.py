"""The fork of a worker: takes on the caller's surroundings, then runs the function that was asked for."""

from __future__ import annotations

import io
import os
import random
import resource
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

from warpwright.worker.channel import Request


def run(request: Request, files: Sequence[int]) -> int:
    """Runs the function; returns its exit code."""
    try:
        _take_on(request, files)
        module, _, name = request.function.partition(":")
        if not module.startswith("warpwright."):
            return 4
        getattr(import_module(module), name)()
        code: object = 0
    except SystemExit as error:
        code = error.code
    except KeyboardInterrupt:
        code = 130
    except BaseException:
        traceback.print_exc()
        code = 1
    _flush()
    return code if isinstance(code, int) else 0 if code is None else 1


def _take_on(request: Request, files: Sequence[int]) -> None:
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    for number in (signal.SIGINT, signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.umask(request.umask)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    os.nice(max(request.niceness - os.nice(0), 0))
    for name, limit in request.limits.items():
        _limit(int(name), limit)
    sys.argv = list(request.arguments)
    sys.stdin, sys.stdout, sys.stderr = _opened(0, "r"), _opened(1, "w"), _opened(2, "w")
    random.seed()


def _limit(number: int, limit: tuple[int, int]) -> None:
    if resource.getrlimit(number) != tuple(limit):
        resource.setrlimit(number, limit)


def _opened(number: int, mode: str) -> TextIO:
    raw = open(number, f"{mode}b", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(
        raw, encoding="utf-8", errors="backslashreplace" if number == 2 else "strict", line_buffering=raw.isatty()
    )


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the reader has closed its end
            continue
