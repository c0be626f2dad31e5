"""Judging on the GPU of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from warpwright.core.errors import Undecided
from warpwright.core.protocols import Progress
from warpwright.core.records.judged import Job, Judged
from warpwright.dispatch.bundle import read_jobs, write_result


def judge_here(jobs: Iterable[Job]) -> Iterator[Judged]:
    """Judges the jobs one after the other. Undecided without a GPU."""
    from warpwright.judge.processes.workers import start_forkserver

    start_forkserver()
    from warpwright.judge.judging import Judge, gpu_is_here

    if not gpu_is_here():
        raise Undecided("no NVIDIA GPU found; `warpwright bundle make` prepares the job for a machine that has one")
    judge = Judge()
    try:
        for job in jobs:
            yield judge.judge(job)
    finally:
        judge.close()


def work_off(folder: Path, progress: Progress) -> None:
    """Judges those jobs of a bundle that have no result yet, on this machine."""
    results = folder / "results"
    jobs = [job for job in read_jobs(folder / "jobs") if not (results / f"{job.id}.json").exists()]
    progress.start(len(jobs), "judging")
    for judged in judge_here(jobs) if jobs else ():
        write_result(results, judged)
        progress.advance(judged.label)
