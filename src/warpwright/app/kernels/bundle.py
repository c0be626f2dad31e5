"""Bundles: kernels sealed here and judged on a GPU that lives elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from warpwright.app.given import Inputs, KernelLike, TaskLike, subject_of
from warpwright.app.kernels.bench import asked_of, jobs_for
from warpwright.app.progress import OnProgress
from warpwright.core.records.judged import Job
from warpwright.seal.refusal import Refusal


def make_bundle(
    folder: str | Path,
    kernels: Sequence[KernelLike],
    task: TaskLike,
    *,
    inputs: Inputs = (),
    baselines: Sequence[str] | None = None,
    seconds: float = 1.0,
    gpu: str = "h200",
    fast_math: bool = False,
    on_progress: OnProgress | None = None,
) -> list[tuple[str, Job | Refusal]]:
    """Seal kernels and pack them with the judge into a folder, unless one of them cannot be sealed."""
    from warpwright.dispatch.bundle import write_bundle

    found = jobs_for(subject_of(task, inputs), kernels, asked_of(baselines, seconds), gpu, fast_math, on_progress)
    jobs = [job for _, job in found if isinstance(job, Job)]
    if len(jobs) == len(found):
        write_bundle(Path(folder), jobs)
    return found
