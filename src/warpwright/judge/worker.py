"""Judges a folder of jobs: python3 worker.pyz JOBS --out RESULTS [--seconds N] [--ahead N]. Needs torch and a GPU.

Results are written atomically, and a job with a result is not judged again: the worker can be stopped and restarted at
any time.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import sys
import time
import zipfile
from pathlib import Path

from warpwright.core.codec import CodecError, dumps, loads
from warpwright.core.errors import Exit, WarpwrightError
from warpwright.core.records.evidence import Fault
from warpwright.core.records.judged import Job, Judged


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="worker.pyz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("jobs", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no job after this time")
    parser.add_argument("--ahead", type=int, metavar="N", help="compile baselines ahead, N at a time")
    asked = parser.parse_args(arguments)
    asked.out.mkdir(parents=True, exist_ok=True)
    waiting = [path for path in asked.jobs.glob("*.json") if not (asked.out / path.name).exists()]
    waiting.sort(key=_task_of)
    if asked.ahead:
        _compile(waiting, asked.ahead)
    return _work(waiting, asked.out, time.monotonic() + asked.seconds)


def _work(waiting: list[Path], out: Path, deadline: float) -> int:
    from warpwright.judge.processes.workers import start_forkserver

    start_forkserver()
    from warpwright.judge.judging import Judge, gpu_is_here

    if not gpu_is_here():
        _say("no NVIDIA GPU found, or its driver cannot be reached: nothing was judged")
        return Exit.UNDECIDED
    judge = Judge(crate=crate_hash())
    try:
        return _work_off(judge, waiting, out, deadline)
    except OSError as error:
        _say(f"a result could not be written, those before it are safe: {error}")
        return Exit.OUR_FAULT
    finally:
        judge.close()


def _work_off(judge, waiting: list[Path], out: Path, deadline: float) -> int:  # type: ignore[no-untyped-def]
    for number, path in enumerate(waiting, 1):
        if time.monotonic() > deadline:
            _say(f"out of time: {len(waiting) - number + 1} jobs left; run the same command again to go on")
            return Exit.UNDECIDED
        judged = _one(judge, path)
        _write(out / path.name, dumps(judged))
        _say(f"[{number}/{len(waiting)}] {judged.label}: {_summary(judged)}")
    return Exit.HOLDS


def _task_of(path: Path) -> tuple[str, ...]:
    """A sort key that groups the jobs of one task, which share expected values and baselines."""
    try:
        task = json.loads(path.read_bytes())["task"]
        return (*(str(task[name]) for name in ("suite", "name", "direction")), path.name)
    except (OSError, ValueError, KeyError, TypeError):
        return (path.name,)


def _compile(waiting: list[Path], workers: int) -> None:
    from warpwright.judge.baselines.precompile import compile_ahead

    jobs = []
    for path in waiting:
        with contextlib.suppress(CodecError, OSError):
            jobs.append(loads(Job, path.read_bytes()))
    threads = max((os.cpu_count() or 1) // workers, 1)
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(threads))
    compile_ahead(jobs, workers, _say)


def _one(judge, path: Path) -> Judged:  # type: ignore[no-untyped-def]
    try:
        job: Job = loads(Job, path.read_bytes())
    except (CodecError, OSError) as error:
        fault = Fault(where=path.name, message=f"not a job: {error}")
        return Judged(job=path.stem, label=path.stem, task="", candidate="", faults=(fault,))
    try:
        return judge.judge(job)  # type: ignore[no-any-return]
    except WarpwrightError as error:
        fault = Fault(where="judge", message=str(error))
        return Judged(job=job.id, label=job.label, task=job.task.key, candidate="", faults=(fault,))


def _summary(judged: Judged) -> str:
    if judged.faults:
        return f"fault: {judged.faults[0].message}"
    verdicts = ", ".join(item.verdict for item in judged.evidence)
    spent = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in judged.seconds.items())
    return f"{verdicts} ({spent})"


def _write(path: Path, text: str) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(text)
    os.replace(partial, path)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def crate_hash() -> str | None:
    """Hash of the code in the archive that this runs from; None when run from a source tree."""
    archive = Path(sys.argv[0])
    if not zipfile.is_zipfile(archive):
        return None
    with zipfile.ZipFile(archive) as crate:
        names = sorted(crate.namelist())
        contents = b"".join(name.encode() + b"\0" + crate.read(name) for name in names)
    return hashlib.sha256(contents).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
