"""Cells as the judge sees them: started fresh, asked with a deadline, killed without regret."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Collection, Iterator
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
"""What torch imports when it first takes an operation apart, which takes up to seconds."""
_CHILDREN = (
    "warpwright.judge.processes.kernel_process",
    "warpwright.judge.baselines.process",
    "warpwright.judge.checks.reference_workers",
)


class WorkerFailure(Exception):
    """A cell that hung or reported an error while it was at candidate code."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


@cache
def forkserver_context() -> ForkServerContext:
    """A process that has imported torch and never touched CUDA: its children start in a fraction of a second."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", SLOW_IMPORT, *_CHILDREN])
    return context


def start_forkserver() -> None:
    """Begins to import torch there while it is imported here: each takes seconds. Where there is no driver, nothing."""
    with suppress(OurFault):
        driver.library()
        forkserver_context()
        forkserver.ensure_running()


@contextmanager
def without_main() -> Iterator[None]:
    """Children need nothing of the program that was started, and must not run it again."""
    with _STARTING:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


class GpuMemoryTaken(OurFault):
    """The card's memory is full, and not of what the candidate took."""


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
        """One command, one answer. Errors and no answer are CellFailures; a process that is gone is a fault of ours."""
        try:
            send(self._connection, {"do": do, **arguments})
            answer = receive(self._connection, timeout_s)
        except Silence as silence:
            self.kill()
            if silence.hung:
                raise WorkerFailure("hang", f"no end after {timeout_s:g} s") from None
            # Its host code is ours, and a kernel cannot kill a process: somebody or something else did.
            raise OurFault(Fault(where="GPU process", message=self._exit_reason(), retryable=True)) from None
        if not answer.get("ok"):
            self.kill()
            told = f"{do}: {answer.get('error')}: {answer.get('message') or answer.get('call')}"
            if answer.get("kind") == MEMORY_TAKEN:
                raise GpuMemoryTaken(Fault(where="GPU process", message=told, retryable=True))
            raise WorkerFailure(str(answer.get("kind", "error")), told)
        return answer

    def demand(self, do: str, timeout_s: float = START_S, **arguments: Any) -> dict[str, Any]:
        """For what has nothing to do with the candidate: if it fails, the fault is ours."""
        try:
            return self.ask(do, timeout_s, **arguments)
        except WorkerFailure as failure:
            raise OurFault(Fault(where=f"GPU process, {do}", message=str(failure), retryable=True)) from None

    def kill(self) -> None:
        self.terminate()
        self.join()

    def close_pipe(self) -> None:
        """One that ran nothing but torch's code may leave by itself, and give back what it has borrowed."""
        self._connection.close()

    def terminate(self) -> None:
        """Kills it; the driver then takes a tenth of a second to give its memory back."""
        self._process.kill()
        self._connection.close()

    def join(self) -> None:
        """Waits until nothing of it is left."""
        self._process.join(10)

    def _exit_reason(self) -> str:
        code = self._process.exitcode
        return f"the process died of signal {-code}" if code is not None and code < 0 else f"the process ended ({code})"

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def has_started(self) -> bool:
        """Waits until it has started; False where it has died."""
        try:
            return bool(self.demand("greet"))
        except OurFault:
            return False

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_alive():
            self.kill()


def shut_down(processes: Collection[Worker]) -> None:
    """Hangs up on all of them first, so that they leave at the same time."""
    for process in processes:
        process.close_pipe()
    for process in processes:
        process.join()


class WorkerPool:
    """Processes that are started ahead, when there is nothing that their start could disturb."""

    def __init__(self, target: Callable[[Connection], None]) -> None:
        self._target = target
        self._waiting: list[Worker] = []
        self._dying: list[Worker] = []

    def start(self, count: int) -> None:
        """So that this many wait."""
        self._waiting += [Worker(self._target) for _ in range(count - len(self._waiting))]

    @contextmanager
    def borrowed(self) -> Iterator[Worker]:
        """One that nobody has used. Those before it are waited for only now: they had time to die."""
        self._join_ended()
        process = self._next()
        try:
            yield process
        finally:
            if process.is_alive():
                process.terminate()
                self._dying.append(process)

    def settle(self) -> None:
        """Waits until all have started, and those that have ended are gone."""
        self._waiting = [process for process in self._waiting if process.has_started()]
        self._join_ended()

    def close(self) -> None:
        for process in self._waiting:
            process.kill()

    def _next(self) -> Worker:
        """Somebody may have killed one while it waited."""
        while self._waiting:
            if (process := self._waiting.pop(0)).is_alive():
                return process
        return Worker(self._target)

    def _join_ended(self) -> None:
        while self._dying:
            self._dying.pop().join()
