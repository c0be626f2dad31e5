"""Finds tasks by name or path."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from warpwright.core.errors import TaskError, UsageError
from warpwright.core.task import Direction, Task
from warpwright.tasks.function import load_function
from warpwright.tasks.kernelbench import is_problem, load_problem
from warpwright.tasks.robust_kbench import is_directory, load_directory
from warpwright.tasks.suite import DEFINITION, load_folder

_PACKAGE = Path(__file__).resolve().parents[1]
_FORMS = "a task of a suite, a task folder, a robust-kbench directory, a KernelBench file, ref.py:fn or model.py:Net"


def load(spec: str, *, inputs: Sequence[str] = (), direction: str | None = None) -> tuple[Task, ...]:
    """Loads the tasks that `spec` names: the requested direction, else all of them, forward first."""
    place, asked = _split_direction(spec, direction)
    if inputs and not _is_function(place):
        raise UsageError(f"'{place}' brings its own inputs; --input goes with ref.py:fn and model.py:Net")
    found = _found(place, inputs, asked)
    wanted = tuple(task for task in found if asked in (None, task.direction))
    if not wanted:
        has = ", ".join(task.direction for task in found)
        raise UsageError(f"'{place}' has no {asked} direction; it has {has}")
    return tuple(sorted(wanted, key=lambda task: list(Direction).index(task.direction)))


def all_tasks(suite: str | None = None) -> tuple[Task, ...]:
    """Loads every task of the suites that come with Warpwright, or of one of them."""
    names = [folder.name for folder in _folders(suites_root())]
    if suite is not None and suite not in names:
        raise UsageError(f"there is no suite '{suite}'{_near(suite, names)}; there are {', '.join(names)}")
    wanted = names if suite is None else [suite]
    return tuple(task for name in wanted for folder in _tasks_of(name) for task in load_folder(folder, name))


def is_task_folder(path: Path) -> bool:
    """Whether a folder is itself a task."""
    return (path / DEFINITION).is_file() or is_directory(path)


def suites_root() -> Path:
    """The suites inside the package if installed from a wheel, else at the root of the repository."""
    return next((path for path in (_PACKAGE / "suites", _PACKAGE.parents[1] / "suites") if path.is_dir()), _PACKAGE)


def _split_direction(spec: str, direction: str | None) -> tuple[str, Direction | None]:
    place, _, last = spec.rpartition(":")
    if place and last in list(Direction) and not _may_be_a_function(place):
        if direction not in (None, last):
            raise UsageError(f"'{spec}' asks for {last}, --direction for {direction}; give one of them")
        spec, direction = place, last
    if direction is not None and direction not in list(Direction):
        raise UsageError(f"'{direction}' is not a direction; use {', '.join(Direction)}")
    return spec, None if direction is None else Direction(direction)


def _found(place: str, inputs: Sequence[str], asked: Direction | None) -> tuple[Task, ...]:
    if _is_function(place):
        file, _, name = place.rpartition(":")
        return load_function(Path(file), name, inputs, asked)
    path = Path(place)
    if path.suffix == ".py":
        return load_problem(path, asked) if is_problem(path) else _unnamed(path)
    if path.is_dir() and ("/" in place or not _suite_folder(place)):
        return _from_directory(path, asked)
    folder = _suite_folder(place)
    if folder is None:
        raise UsageError(_unknown(place))
    return load_folder(folder, folder.parent.name)


def _is_function(place: str) -> bool:
    file, _, name = place.rpartition(":")
    return file.endswith(".py") and bool(name)


def _may_be_a_function(place: str) -> bool:
    """Whether the last part may name a function: only a KernelBench file has directions but no functions to choose."""
    return place.endswith(".py") and not is_problem(Path(place))


def _from_directory(path: Path, asked: Direction | None) -> tuple[Task, ...]:
    if (path / DEFINITION).is_file():
        return load_folder(path)
    if is_directory(path):
        return load_directory(path, asked)
    held = f"neither {DEFINITION} nor func_forward.py nor func_backward.py is in it"
    raise TaskError(str(path), None, held, "name a task folder or a robust-kbench task directory")


def _unnamed(path: Path) -> tuple[Task, ...]:
    problem = "is not a KernelBench file: it lacks class Model or get_inputs"
    raise TaskError(str(path), None, problem, f"to use a function or module of it, write {path}:NAME")


def _suite_folder(name: str) -> Path | None:
    """Finds the folder of a task by its name, or by suite and name; an ambiguous name needs the suite."""
    suite, _, bare = name.rpartition("/")
    held = [folder for path in _folders(suites_root()) for folder in _tasks_of(path.name) if folder.name == bare]
    matches = [folder for folder in held if suite in ("", folder.parent.name)]
    if len(matches) > 1:
        both = " or ".join(f"{folder.parent.name}/{bare}" for folder in matches)
        raise UsageError(f"'{name}' is in more than one suite; write {both}")
    return matches[0] if matches else None


def _unknown(place: str) -> str:
    if "/" in place and Path(place).parent.is_dir():
        return f"{place}: no such file or directory; give {_FORMS}"
    names = [folder.name for path in _folders(suites_root()) for folder in _tasks_of(path.name)]
    remedy = _near(place.rpartition("/")[2], names) or "; `warpwright tasks list` names them all"
    return f"there is no task '{place}'{remedy}"


def _near(name: str, known: Sequence[str]) -> str:
    matches = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    matches += [other for other in known if name and name in other and other not in matches][: 3 - len(matches)]
    return f"; did you mean {' or '.join(matches)}?" if matches else ""


def _tasks_of(suite: str) -> list[Path]:
    return [folder for folder in _folders(suites_root() / suite) if (folder / DEFINITION).is_file()]


def _folders(path: Path) -> list[Path]:
    return sorted(item for item in path.iterdir() if item.is_dir() and not item.name.startswith((".", "_")))
