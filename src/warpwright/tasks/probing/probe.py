"""Runs a user's file in a child process, since the file may be slow, huge or broken."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from warpwright.core.codec import CodecError, dumps, loads
from warpwright.core.errors import OurFault, TaskError
from warpwright.core.records.evidence import Fault
from warpwright.tasks.probing.seen import Answer, Findings, Job
from warpwright.worker import client

SECONDS = 120.0
_CHILD = "warpwright.tasks.probing.child"
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
    worker = client.connected()
    return _in_process(text, seconds) if worker is None else _in_worker(worker, text, seconds)


def _in_worker(worker: socket.socket, text: str, seconds: float) -> subprocess.CompletedProcess[str]:
    """Runs the child as a fork of a process that has imported torch already."""
    with _file() as said, _file() as out, _file() as err:
        said.write(text.encode())
        said.seek(0)
        try:
            files = (said.fileno(), out.fileno(), err.fileno())
            code = client.run(worker, f"{_CHILD}.__main__:main", files, _environment(), seconds)
        except TimeoutError:
            raise subprocess.TimeoutExpired(_CHILD, seconds) from None
        if code is None:
            return _in_process(text, seconds)
        texts = [_read(file) for file in (out, err)]
    return subprocess.CompletedProcess(args=[_CHILD], returncode=code, stdout=texts[0], stderr=texts[1])


def _file() -> IO[bytes]:
    return tempfile.TemporaryFile("w+b")


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _in_process(text: str, seconds: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", _CHILD],
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
