"""Makes labelled faults from right kernels: the composer's, or the user's own."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warpwright.app.progress import OnProgress, Reporter
from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError, WarpwrightError
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Task

if TYPE_CHECKING:
    from warpwright.faults.corpus import Harvest, Row

_TASKS = "tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A kernel to plant faults in: a file, or None for the composer's."""

    name: str
    task: str
    kernel: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What lies in the folder now."""

    folder: Path
    rows: tuple[Row, ...]
    harvests: tuple[Harvest, ...]


def make_corpus(
    places: Sequence[Path],
    folder: Path,
    *,
    labels: Path | None = None,
    each: int = 2,
    every: int = 1,
    seed: int = 0,
    gpu: str = "h200",
    jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> Corpus:
    """Plant faults in composed kernels of problems, and in the right ones of a labels.csv, and keep the witnessed.

    Originals that are done already are left as they are.
    """
    from warpwright.dispatch.pool import parallel
    from warpwright.faults.corpus import harvest_in, write_labels

    origins = [*_problems(places, folder), *(_own(labels, folder) if labels else ())][::every]
    if not origins:
        raise UsageError("no kernels to plant faults in: name a folder of problems, or --labels with right kernels")
    todo = [origin for origin in origins if harvest_in(folder, origin.name) is None]
    make = partial(_harvested, folder=folder, each=each, seed=seed, gpu=gpu)
    if todo:
        parallel(make, todo, jobs=jobs, progress=Reporter(on_progress), label=lambda origin: origin.name)
    found = [harvest for origin in origins if (harvest := harvest_in(folder, origin.name))]
    return Corpus(folder=folder, rows=tuple(write_labels(folder)), harvests=tuple(found))


def _problems(places: Sequence[Path], folder: Path) -> list[Origin]:
    from warpwright.tasks.kernelbench import is_meant_as_problem

    found = []
    for place in places:
        if not place.exists():
            raise UsageError(f"{place}: no such file or folder")
        files = sorted(path for path in place.rglob("*.py") if is_meant_as_problem(path)) if place.is_dir() else [place]
        found += [Origin(name=path.stem, task=_copied(path, folder)) for path in files]
    return found


def _own(labels: Path, folder: Path) -> list[Origin]:
    from warpwright.verify.evaluation import read_labels

    rows = [row for row in read_labels(labels) if row.verdict is Verdict.HOLDS]
    return [Origin(name=row.path.stem, task=row.task, kernel=row.path) for row in rows]


def _copied(problem: Path, folder: Path) -> str:
    """Copies a problem beside the kernels, so that the labels go on naming it when the folder is moved."""
    place = folder / _TASKS / problem.name
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        shutil.copyfile(problem, place)
    return f"{_TASKS}/{problem.name}"


def _harvested(origin: Origin, folder: Path, each: int, seed: int, gpu: str) -> Harvest:
    from warpwright import languages
    from warpwright.faults.context import context_of
    from warpwright.faults.corpus import Planter, without_kernels
    from warpwright.faults.running import Runner
    from warpwright.seal.cache import Store, default_root
    from warpwright.tasks import load
    from warpwright.verify.library import execute_on_cpu

    store = Store(root=default_root())
    beside = folder / origin.task
    try:
        task = load(str(beside) if beside.is_file() else origin.task)[0]
        original = _original(origin, task, gpu)
        if isinstance(original, str):
            return without_kernels(folder, origin.name, original)
        sealed = languages.seal(task, original, None, store)
        planter = Planter(
            folder=folder,
            name=origin.name,
            spec=origin.task,
            task=task,
            original=original,
            context=context_of(task, sealed if isinstance(sealed, Sealed) else None),
            runner=Runner(gpu=gpu, store=store, library=execute_on_cpu),
        )
        return planter.harvest(each, seed)
    except WarpwrightError as error:
        return without_kernels(folder, origin.name, str(error))


def _original(origin: Origin, task: Task, gpu: str) -> Candidate | str:
    """The kernel, or why there is none."""
    from warpwright.app.given import candidate_of
    from warpwright.compose.survey import surveyed

    if origin.kernel is not None:
        return candidate_of(origin.kernel, gpu)
    answer = surveyed(task, gpu=gpu)
    return candidate_of(answer.sources[0], gpu) if answer.sources else answer.reason or "there is no composed kernel"
