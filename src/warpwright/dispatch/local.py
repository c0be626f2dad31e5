"""Judging on the GPU of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpwright.core.errors import Undecided
from warpwright.core.judged import Job, Judged


def judge_here(jobs: Iterable[Job]) -> Iterator[Judged]:
    """One after the other, as they come. Without a GPU nothing can be said."""
    from warpwright.judge.judging import Judge, gpu_is_here

    if not gpu_is_here():
        raise Undecided("there is no NVIDIA GPU here; `warpwright bundle make` carries the job to one elsewhere")
    judge = Judge()
    try:
        for job in jobs:
            yield judge.judge(job)
    finally:
        judge.close()
