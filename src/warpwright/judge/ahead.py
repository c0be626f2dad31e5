"""Baselines compiled ahead, many at a time; torch keeps what it compiled on disk, and the judge finds it there.

Compiling is work for the CPU, but choosing between variants is measuring: those measurements take turns at the GPU, so
that no baseline is chosen badly because others were busy.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from warpwright.core.codec import encode
from warpwright.core.errors import WarpwrightError
from warpwright.core.judged import Job
from warpwright.core.task import Draw, Role, Task
from warpwright.judge import rival
from warpwright.judge.baseline import COMPILE_S
from warpwright.judge.cells import CellFailure, Process


def compile_ahead(jobs: Sequence[Job], workers: int, say: Callable[[str], None]) -> None:
    """What fails here fails again when it is timed, and is told then."""
    wanted = {(job.task.id, name): job.task for job in jobs if job.asked.time for name in _compiled(job)}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        turns = str(Path(folder) / "turns")
        done = pool.map(lambda item: _compile(item[1], item[0][1], turns), wanted.items())
        for number, said in enumerate(done, 1):
            say(f"[{number}/{len(wanted)}] compiled ahead: {said}")


def _compiled(job: Job) -> Iterable[str]:
    return (name for name in job.baselines if rival.MODES.get(name) is not None)


def _compile(task: Task, baseline: str, turns: str) -> str:
    label = f"{task.key}, {baseline}"
    try:
        with Process(rival.main) as process:
            process.demand("take_turns", path=turns)
            process.demand("task", task=encode(task))
            for case in task.cases_of(Role.TIME):
                draw = encode(Draw(case=case, seed=0))
                process.ask("prepare", COMPILE_S, baseline=baseline, draws={"0": draw})
                process.demand("forget")
    except (CellFailure, WarpwrightError) as failure:
        return f"{label}: {str(failure)[:200]}"
    return label
