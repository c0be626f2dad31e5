"""Calls one sealed candidate a few times in this process, for tools that observe a process.

python3 -m warpwright.judge.processes.solo JOB.json [--case NAME] [--calls N]

Profilers and sanitizers cannot follow the processes that the judge starts and kills. Nothing is judged here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from warpwright.core.codec import encode, loads
from warpwright.core.errors import UsageError
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.judged import Job
from warpwright.core.task import Case, Draw, Role
from warpwright.judge.gpu.arena import Layout
from warpwright.judge.processes.kernel_process import KernelProcess
from warpwright.judge.processes.staged_call import StagedCall, stage, write_inputs
from warpwright.judge.timing.cuda_timer import Flush
from warpwright.oracle.truth.expected import scenario


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("job", type=Path)
    parser.add_argument("--case")
    parser.add_argument("--calls", type=int, default=1)
    asked = parser.parse_args(arguments)
    job: Job = loads(Job, asked.job.read_bytes())
    if job.sealed is None:
        raise UsageError(f"{asked.job} holds no candidate")
    call_alone(job, job.sealed, _case(job, asked.case), asked.calls)
    return 0


def call_alone(job: Job, sealed: Sealed, case: Case, calls: int) -> None:
    """Runs every call from a cold cache, as when it is timed."""
    process, call = _staged(job, sealed, case)
    flush = Flush()
    process.run(call.preparing)
    for _ in range(calls):
        flush()
        torch.cuda.synchronize()
        process.run(call.slots)


def _staged(job: Job, sealed: Sealed, case: Case) -> tuple[KernelProcess, StagedCall]:
    process, layout, draw = KernelProcess(), Layout(), Draw(case=case, seed=1)
    call = stage(job.task, sealed, draw, scenario(job.task, draw, "cuda"), layout, 0)
    process.arena(layout.total)
    process.load(encode(sealed), job.task.tolerance.tf32)
    for entry in call.entries:
        buffers = {str(number): [place.offset, place.size] for number, place in entry.places.items()}
        process.place(entry.slot, entry.plan.case, entry.plan.entry, buffers)
    write_inputs(call, process.memory)
    torch.cuda.synchronize()
    return process, call


def _case(job: Job, name: str | None) -> Case:
    cases = job.task.cases_of(Role.TIME) or job.task.cases
    found = next((case for case in job.task.cases if case.name == name), None) if name else cases[0]
    if found is None:
        raise UsageError(f"{job.task.key} has no case '{name}'")
    return found


if __name__ == "__main__":
    sys.exit(main())
