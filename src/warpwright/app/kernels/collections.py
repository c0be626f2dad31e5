"""Benchmarks that users bring: folders of KernelBench problems and of robust-kbench tasks.

Loading a problem runs its file in a process of its own, which takes seconds. Loaded tasks are therefore kept in the
folder of the run, by the content of their files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warpwright import __version__
from warpwright.app.progress import Reporter
from warpwright.core.codec import CodecError, content_id, dumps, loads
from warpwright.core.errors import TaskError, UsageError
from warpwright.core.task import Task
from warpwright.dispatch.ordered_map import ordered_map
from warpwright.report.benchmark.figures import Problem
from warpwright.tasks import load
from warpwright.tasks.find import is_task_folder
from warpwright.tasks.kernelbench import is_meant_as_problem

KINDS = ("kernelbench", "robust-kbench")


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A benchmark in a folder of the user's."""

    kind: str
    folder: Path
    levels: tuple[str, ...] = ()
    """Names of subfolders; empty for all of them."""


def collection_named(suite: str, levels: Sequence[str] = ()) -> Collection | None:
    """Reads `kernelbench:FOLDER` or `robust-kbench:FOLDER`; None for the name of a suite of ours."""
    kind, colon, folder = suite.partition(":")
    if not colon:
        if levels:
            raise UsageError("--levels goes with --suite kernelbench:FOLDER")
        return None
    if kind not in KINDS:
        raise UsageError(f"there is no kind of benchmark '{kind}'; one of {', '.join(KINDS)}")
    if not Path(folder).is_dir():
        raise UsageError(f"{folder} is no folder")
    names = tuple(level if level.startswith("level") else f"level{level}" for level in levels)
    return Collection(kind=kind, folder=Path(folder), levels=names)


def problems_of(asked: Collection, place: Path, shard: tuple[int, int], reporter: Reporter) -> list[Problem]:
    """Loads the problems of one shard, several at a time; those that cannot be loaded say why."""
    number, shards = shard
    found = _places(asked)[number - 1 :: shards]
    reporter.start(len(found), "loading problems")
    loaded: list[Problem] = []
    for problems in ordered_map(lambda item: _loaded(asked.kind, *item, place), found, workers=os.cpu_count() or 1):
        loaded += problems
        reporter.advance(problems[0].name)
    return _named_apart(loaded)


def _places(asked: Collection) -> list[tuple[str, Path]]:
    """The file or folder of every problem, with its level."""
    folders = sorted(path for path in asked.folder.iterdir() if path.is_dir() and path.name.startswith("level"))
    known = [path.name for path in folders]
    if missing := [name for name in asked.levels if name not in known]:
        raise UsageError(f"{asked.folder} has no {missing[0]}; it has {', '.join(known) or 'no levels'}")
    groups = [(path.name, path) for path in folders if not asked.levels or path.name in asked.levels]
    found = [(level, path) for level, folder in groups or [("", asked.folder)] for path in _problems_in(asked, folder)]
    if not found:
        raise UsageError(f"{asked.folder} holds no {asked.kind} problems")
    return found


def _problems_in(asked: Collection, folder: Path) -> list[Path]:
    if asked.kind == "kernelbench":
        return sorted((path for path in folder.glob("*.py") if is_meant_as_problem(path)), key=_order)
    return sorted(path for path in folder.iterdir() if path.is_dir() and is_task_folder(path))


def _order(path: Path) -> tuple[int, str]:
    """By number: `2_x` comes before `10_x`."""
    number, _, _ = path.stem.partition("_")
    return (int(number) if number.isdigit() else 0, path.stem)


def _loaded(kind: str, level: str, path: Path, place: Path) -> list[Problem]:
    kept = place / "tasks" / f"{content_id([__version__, kind, level, path.name, *_contents(path)])}.json"
    try:
        tasks = _read(kept) or _write(kept, tuple(replace(task, suite=kind) for task in load(str(path))))
    except TaskError as error:
        return [Problem(name=path.stem, level=level, unreadable=str(error))]
    return [Problem(name=task.name, level=level, task=task) for task in tasks]


def _contents(path: Path) -> Iterator[str]:
    files = [path] if path.is_file() else sorted(item for item in path.rglob("*") if item.is_file())
    return (file.read_text(encoding="utf-8", errors="replace") for file in files)


def _read(path: Path) -> tuple[Task, ...] | None:
    try:
        found: tuple[Task, ...] = loads(tuple[Task, ...], path.read_text())
    except (OSError, CodecError):
        return None
    return found


def _write(path: Path, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dumps(tasks))
    return tasks


def _named_apart(problems: Sequence[Problem]) -> list[Problem]:
    """Problems of one name in two levels get their level in front."""
    keys = [problem.task.key if problem.task else problem.name for problem in problems]
    twice = {key for key in keys if keys.count(key) > 1}
    return [
        _renamed(problem) if key in twice and problem.task else problem
        for key, problem in zip(keys, problems, strict=True)
    ]


def _renamed(problem: Problem) -> Problem:
    assert problem.task is not None
    name = f"{problem.level}-{problem.task.name}"
    return replace(problem, name=name, task=replace(problem.task, name=name))
