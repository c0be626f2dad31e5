"""Plans many tasks at once: a suite, or a folder of KernelBench files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from warpwright.compose.errors import CannotCompose
from warpwright.compose.plan import plan
from warpwright.core.errors import OurFault, WarpwrightError
from warpwright.core.task import Task
from warpwright.tasks import load
from warpwright.tasks.find import is_task_folder
from warpwright.tasks.kernelbench import is_meant_as_problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """A task and the sources that were written for it, the default first; or what was in the way."""

    name: str
    task: Task | None = None
    sources: tuple[str, ...] = ()
    reason: str | None = None
    """Why there is no source."""
    fault: OurFault | None = None
    """The bug of ours that is the reason, if it is one; its cause has the traceback."""


def survey(places: Iterable[str], variants: int = 1, gpu: str = "h200") -> Iterator[Surveyed]:
    """One answer for each task that the places name; a folder of problem files names all of them."""
    for place in places:
        for spec in _specs(place):
            try:
                tasks = load(spec)
            except WarpwrightError as problem:
                yield Surveyed(name=spec, reason=str(problem))
                continue
            yield from (surveyed(task, variants, gpu) for task in tasks)


def surveyed(task: Task, variants: int = 1, gpu: str = "h200") -> Surveyed:
    try:
        found = plan(task, gpu)
        sources = tuple(found.write(config) for config in found.variants(variants))
    except CannotCompose as problem:
        return Surveyed(name=task.key, task=task, reason=str(problem))
    except OurFault as fault:
        return Surveyed(name=task.key, task=task, reason=str(fault), fault=fault)
    return Surveyed(name=task.key, task=task, sources=sources)


def _specs(place: str) -> list[str]:
    folder = Path(place)
    files = sorted(folder.glob("*.py")) if folder.is_dir() and not is_task_folder(folder) else []
    return [str(path) for path in files if is_meant_as_problem(path)] or [place]
