"""Compiles baselines ahead of time, many at once; torch's compile cache on disk serves them to the judge later.

Compiling needs the CPU, but choosing between variants needs measurements: these take turns at the GPU, so that other
processes do not disturb the choice.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from itertools import product
from pathlib import Path

from warpwright.core.codec import encode
from warpwright.core.errors import WarpwrightError
from warpwright.core.records.judged import Job
from warpwright.core.task import Case, Draw, Role, Task
from warpwright.judge.baselines import process as baseline_process
from warpwright.judge.baselines.timed import COMPILE_S
from warpwright.judge.processes.workers import Worker, WorkerFailure, shut_down

LONGEST = "max-autotune"


def compile_ahead(jobs: Sequence[Job], workers: int, say: Callable[[str], None]) -> None:
    """Compiles every compiled baseline of the jobs. A failure is only printed: timing meets the same failure and
    records it.
    """
    wanted = {(job.task.id, name, case.name): (job.task, name, case) for job in jobs for name, case in _compiled(job)}
    order = sorted(wanted.values(), key=lambda item: item[1] != LONGEST)  # slowest first
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(workers) as pool,
        closing(_Compilers(str(Path(folder) / "turns"))) as compilers,
    ):
        coming = [pool.submit(compilers.compile, *item) for item in order]
        for number, done in enumerate(as_completed(coming), 1):
            say(f"[{number}/{len(wanted)}] compiled ahead: {done.result()}")


def _compiled(job: Job) -> Iterator[tuple[str, Case]]:
    """Lists the compiled baselines of a job, with each timed case."""
    if job.asked.time:
        yield from product(filter(baseline_process.compiles, job.baselines), job.task.cases_of(Role.TIME))


class _Compilers:
    """A pool of idle compiler processes; starting one takes seconds."""

    def __init__(self, turns: str) -> None:
        self._lock = turns
        self._idle: list[Worker] = []

    def compile(self, task: Task, baseline: str, case: Case) -> str:
        label = f"{task.key}, {case.name}, {baseline}"
        try:
            with self._borrowed() as process:
                process.demand("task", task=encode(task))
                process.ask("prepare", COMPILE_S, baseline=baseline, draws={"0": encode(Draw(case=case, seed=0))})
                process.demand("forget")  # frees memory for other processes
        except (WorkerFailure, WarpwrightError) as failure:
            return f"{label}: {str(failure)[:200]}"
        return label

    @contextmanager
    def _borrowed(self) -> Iterator[Worker]:
        """Lends an idle process. A process that fails is not returned to the pool."""
        process = self._next()
        yield process
        self._idle.append(process)

    def _next(self) -> Worker:
        try:
            return self._idle.pop()
        except IndexError:
            started = Worker(baseline_process.compiling)
            started.demand("share_lock", path=self._lock)
            return started

    def close(self) -> None:
        shut_down(self._idle)
