"""Judging on the GPU of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from warpwright.core.errors import Undecided
from warpwright.core.protocols import Progress
from warpwright.core.records.judged import Job, Judged
from warpwright.dispatch.bundle import read_jobs, write_result


def judge_here(jobs: Iterable[Job]) -> Iterator[Judged]:
    """One after the other, as they come. Without a GPU nothing can be said."""
    from warpwright.judge.processes.workers import start_forkserver

    start_forkserver()
    from warpwright.judge.judging import Judge, gpu_is_here

    if not gpu_is_here():
        raise Undecided("there is no NVIDIA GPU here; `warpwright bundle make` carries the job to one elsewhere")
    judge = Judge()
    try:
        for job in jobs:
            yield judge.judge(job)
    finally:
        judge.close()


def work_off(folder: Path, progress: Progress) -> None:
    """The jobs of a bundle that have no result yet, right here."""
    results = folder / "results"
    jobs = [job for job in read_jobs(folder / "jobs") if not (results / f"{job.id}.json").exists()]
    progress.start(len(jobs), "judging")
    for judged in judge_here(jobs) if jobs else ():
        write_result(results, judged)
        progress.advance(judged.label)
