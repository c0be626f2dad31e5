"""Bundles for a GPU on another machine: jobs are sealed here, one folder is copied there, results are copied back.

bundle/worker.pyz    core, oracle and judge: needs only the standard library and torch
bundle/jobs/*.json   sealed candidates with their tasks
bundle/README.txt    the one command to run there
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import warpwright
from warpwright.core.codec import CodecError, content_id, dumps, loads
from warpwright.core.errors import UsageError
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.judged import Job, Judged, JudgeOptions
from warpwright.core.task import Case, Task

Record = TypeVar("Record", Job, Judged)
ROOMS = ("core", "oracle", "judge")
_MAIN = "import sys\nfrom warpwright.judge.worker import main\n\nif __name__ == '__main__':\n    sys.exit(main())\n"
_README = """Run here, where the GPU is (Python 3.11 to 3.13 and torch are all it needs):

    python3 worker.pyz jobs/ --out results/

It can be stopped and started again; --seconds N bounds the time. Copy results/ back and import it:

    warpwright bundle import results/
"""


def make_job(
    label: str, task: Task, sealed: Sealed | None, hidden: Sequence[Case] = (), asked: JudgeOptions | None = None
) -> Job:
    """Builds a job; without a candidate it times only the baselines."""
    asked = asked or JudgeOptions()
    key = content_id([label, task.id, sealed.id if sealed else None, tuple(hidden), asked])
    return Job(id=key, label=label, task=task, sealed=sealed, hidden=tuple(hidden), asked=asked)


def write_bundle(folder: Path, jobs: Iterable[Job]) -> int:
    """Writes the crate and the jobs and returns the number of jobs. Existing jobs stay."""
    (folder / "jobs").mkdir(parents=True, exist_ok=True)
    write_crate(folder / "worker.pyz")
    (folder / "README.txt").write_text(_README)
    count = 0
    for count, job in enumerate(jobs, 1):  # noqa: B007 -- the last number is the count
        (folder / "jobs" / f"{job.id}.json").write_text(dumps(job))
    return count


def write_crate(path: Path) -> None:
    """Writes the code that travels as an archive whose bytes depend only on the sources."""
    root = Path(warpwright.__file__).parent
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as crate:
        for name, source in sorted(_crate_files(root)):
            _add(crate, name, source.read_bytes())
        _add(crate, "__main__.py", _MAIN.encode())


def read_results(folder: Path) -> tuple[Judged, ...]:
    """Reads the records of a results folder as plain data."""
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise UsageError(f"{folder} has no results; run worker.pyz on the GPU machine first")
    return tuple(_read(Judged, path) for path in paths)


def write_result(folder: Path, judged: Judged) -> None:
    """Writes a result atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{judged.job}.partial"
    draft.write_text(dumps(judged))
    draft.replace(folder / f"{judged.job}.json")


def read_jobs(folder: Path) -> tuple[Job, ...]:
    """Reads the jobs of a bundle, to which results are matched."""
    return tuple(_read(Job, path) for path in sorted(folder.glob("*.json")))


def _read(kind: type[Record], path: Path) -> Record:
    try:
        found: Record = loads(kind, path.read_bytes())
    except (CodecError, OSError) as error:
        raise UsageError(f"{path} is not a {kind.__name__.lower()} record: {error}") from None
    return found


def _crate_files(root: Path) -> Iterator[tuple[str, Path]]:
    yield "warpwright/__init__.py", root / "__init__.py"
    for room in ROOMS:
        for source in (root / room).rglob("*.py"):
            yield f"warpwright/{source.relative_to(root).as_posix()}", source


def _add(crate: zipfile.ZipFile, name: str, data: bytes) -> None:
    crate.writestr(zipfile.ZipInfo(name, date_time=(2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
