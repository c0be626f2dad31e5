"""Runs a user's file in a child process, since the file may be slow, huge or broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from warpwright.core.codec import CodecError, dumps, loads
from warpwright.core.errors import OurFault, TaskError
from warpwright.core.records.evidence import Fault
from warpwright.tasks.probing.seen import Answer, Findings, Job

SECONDS = 120.0
_PACKAGES = Path(__file__).resolve().parents[3]


def probe(job: Job, seconds: float = SECONDS) -> Findings:
    """Returns the findings of the child; raises a TaskError if the user's file is to blame."""
    try:
        ran = _child(dumps(job), seconds)
    except subprocess.TimeoutExpired:
        problem = f"gave no answer within {seconds:g} s"
        raise TaskError(job.filename, None, problem, "make its inputs smaller, or correct an endless loop") from None
    return _findings(job, ran)


def _child(text: str, seconds: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "warpwright.tasks.probing.child"],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        env=_environment(),
    )


def _environment() -> dict[str, str]:
    """Hides the GPU, which the findings do not depend on, and limits the child to one thread."""
    paths = [str(_PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}


def _findings(job: Job, ran: subprocess.CompletedProcess[str]) -> Findings:
    try:
        answer: Answer = loads(Answer, ran.stdout)
    except CodecError:
        raise _silence(job, ran) from None
    if answer.problem is not None:
        told = answer.problem
        raise TaskError(told.where, told.key, told.problem, told.remedy)
    assert answer.findings is not None
    return answer.findings


def _silence(job: Job, ran: subprocess.CompletedProcess[str]) -> Exception:
    """Explains a missing answer: a killed child is the user's file's fault, a child that failed by itself is ours."""
    last = (ran.stderr.strip().splitlines() or ["no message"])[-1][:200]
    if ran.returncode < 0:
        return TaskError(job.filename, None, f"ended the process that ran it with signal {-ran.returncode} ({last})")
    if "warpwright-child-failed" in ran.stderr:
        return OurFault(Fault(where="tasks.probe", message=f"{job.filename}: {last}"))
    return TaskError(job.filename, None, f"ended the process that ran it with exit code {ran.returncode} ({last})")
