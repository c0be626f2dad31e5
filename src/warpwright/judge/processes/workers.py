"""Worker processes as the judge sees them: started ahead of time, asked with a deadline, killed when they fail."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from threading import Lock
from types import ModuleType
from typing import Any

from warpwright.core.errors import OurFault
from warpwright.core.records.evidence import Fault
from warpwright.judge.gpu import driver
from warpwright.judge.processes.link import MEMORY_TAKEN, Silence, receive, send

START_S = 60.0
_STARTING = Lock()
SLOW_IMPORT = "torch.fx.experimental.symbolic_shapes"
"""A module that torch imports when it first decomposes an operation, which takes up to seconds."""
_CHILDREN = (
    "warpwright.judge.processes.kernel_process",
    "warpwright.judge.baselines.process",
    "warpwright.judge.checks.reference_workers",
)


class WorkerFailure(Exception):
    """A worker hung or reported an error while it ran candidate code."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


@cache
def forkserver_context() -> ForkServerContext:
    """The fork server: a process that has imported torch and never touched CUDA, so that its children start quickly."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", SLOW_IMPORT, *_CHILDREN])
    return context


def start_forkserver() -> None:
    """Starts the fork server, which imports torch while this process does so too. Does nothing without a CUDA
    driver.
    """
    with suppress(OurFault):
        driver.library()
        forkserver_context()
        forkserver.ensure_running()


@contextmanager
def without_main() -> Iterator[None]:
    """Hides the main module: children need nothing of it and must not run it again."""
    with _STARTING:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


class GpuMemoryTaken(OurFault):
    """GPU memory is full, but the candidate did not take it."""


class Worker:
    """A process of ours at the other end of a pipe."""

    def __init__(self, target: Callable[[Connection], None]) -> None:
        ours, theirs = forkserver_context().Pipe()
        self._connection = ours
        self._process = forkserver_context().Process(target=target, args=(theirs,), daemon=True)
        with without_main():
            self._process.start()
        theirs.close()

    def ask(self, do: str, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        """Sends one command and returns the answer.

        Raises WorkerFailure for an error or a missed deadline, and OurFault if the process has ended.
        """
        try:
            send(self._connection, {"do": do, **arguments})
            answer = receive(self._connection, timeout_s)
        except Silence as silence:
            self.kill()
            if silence.hung:
                raise WorkerFailure("hang", f"no end after {timeout_s:g} s") from None
            # Host code in the worker is ours, and a kernel cannot end a process: the cause lies outside the candidate.
            raise OurFault(Fault(where="GPU process", message=self._exit_reason(), retryable=True)) from None
        if not answer.get("ok"):
            self.kill()
            raise reported_error(do, answer)
        return answer

    def demand(self, do: str, timeout_s: float = START_S, **arguments: Any) -> dict[str, Any]:
        """Sends a command that does not involve the candidate: its failure is our fault."""
        try:
            return self.ask(do, timeout_s, **arguments)
        except WorkerFailure as failure:
            raise OurFault(Fault(where=f"GPU process, {do}", message=str(failure), retryable=True)) from None

    def kill(self) -> None:
        self.terminate()
        self.join()

    def close_pipe(self) -> None:
        """Closes the pipe, so that a process which ran only torch's code ends by itself and frees its memory."""
        self._connection.close()

    def terminate(self) -> None:
        """Kills the process. The driver takes about a tenth of a second to free its memory."""
        self._process.kill()
        self._connection.close()

    def join(self) -> None:
        """Waits until the process has ended."""
        self._process.join(10)

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs."""
        return self._process.exitcode

    def _exit_reason(self) -> str:
        code = self.exit_code
        return f"the process died of signal {-code}" if code is not None and code < 0 else f"the process ended ({code})"

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def has_started(self) -> bool:
        """Waits until the process has started; False if it has ended."""
        try:
            return bool(self.demand("greet"))
        except OurFault:
            return False

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_alive():
            self.kill()


def reported_error(do: str, answer: Mapping[str, Any]) -> WorkerFailure | GpuMemoryTaken:
    """Returns the exception for an error that a worker reported: memory that others hold is not the candidate's
    failure.
    """
    told = f"{do}: {answer.get('error')}: {answer.get('message') or answer.get('call')}"
    if answer.get("kind") == MEMORY_TAKEN:
        return GpuMemoryTaken(Fault(where="GPU process", message=told, retryable=True))
    return WorkerFailure(str(answer.get("kind", "error")), told)


def shut_down(processes: Collection[Worker]) -> None:
    """Closes all pipes before it waits, so that the processes end at the same time."""
    for process in processes:
        process.close_pipe()
    for process in processes:
        process.join()


class WorkerPool:
    """A pool of workers started ahead of time, when their start disturbs no measurement."""

    def __init__(self, target: Callable[[Connection], None]) -> None:
        self._target = target
        self._waiting: list[Worker] = []
        self._dying: list[Worker] = []

    def start(self, count: int) -> None:
        """Starts workers until `count` of them are waiting."""
        self._waiting += [Worker(self._target) for _ in range(count - len(self._waiting))]

    @contextmanager
    def borrowed(self) -> Iterator[Worker]:
        """Lends a fresh worker. Earlier workers are joined only now, after they had time to end."""
        self._join_ended()
        process = self._next()
        try:
            yield process
        finally:
            if process.is_alive():
                process.terminate()
                self._dying.append(process)

    def settle(self) -> None:
        """Waits until all waiting workers have started and all terminated ones have ended."""
        self._waiting = [process for process in self._waiting if process.has_started()]
        self._join_ended()

    def close(self) -> None:
        for process in self._waiting:
            process.kill()

    def _next(self) -> Worker:
        """Takes the next waiting worker that is still alive, or starts one."""
        while self._waiting:
            if (process := self._waiting.pop(0)).is_alive():
                return process
        return Worker(self._target)

    def _join_ended(self) -> None:
        while self._dying:
            self._dying.pop().join()
