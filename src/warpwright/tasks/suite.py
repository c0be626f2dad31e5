"""Loads our own format: a folder with task.toml (the task) and reference.py (the reference, in plain PyTorch).

One folder gives one Task per direction. Errors name file and key, with a remedy.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warpwright.core.codec import CodecError, decode
from warpwright.core.errors import TaskError, UsageError
from warpwright.core.task import Direction, Task
from warpwright.tasks.cases import case_tables
from warpwright.tasks.validate import validate

DEFINITION, REFERENCE = "task.toml", "reference.py"
_SHARED = (
    "name",
    "family",
    "summary",
    "dtypes",
    "arguments",
    "outputs",
    "saves",
    "mutates",
    "prepares",
    "distributions",
    "tolerance",
    "variants",
    "baselines",
)
_KNOWN = {*_SHARED, "directions", "cases", "hidden", "work", "exempt"}


def load_folder(folder: Path, suite: str = "") -> tuple[Task, ...]:
    """Loads every direction of the task in a folder."""
    path = folder / DEFINITION
    table = _read_toml(path)
    source, functions = read_source(folder / REFERENCE)
    if unknown := sorted(table.keys() - _KNOWN):
        raise TaskError(str(path), unknown[0], "unknown key", f"known keys are {', '.join(sorted(_KNOWN))}")
    directions = table.get("directions", ["forward"])
    return tuple(_task(path, table, _direction(path, name), suite, source, functions) for name in directions)


def read_source(path: Path) -> tuple[str, dict[str, list[str]]]:
    """Reads a Python file: its text, and the parameter names of each top-level function."""
    source = read_text(path)
    try:
        tree = ast.parse(source, filename=str(path))
    except SyntaxError as error:
        raise TaskError(f"{path}:{error.lineno}", None, f"syntax error: {error.msg}") from None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return source, {function.name: [arg.arg for arg in function.args.args] for function in functions}


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise TaskError(str(path), None, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TaskError(str(path), None, "is not UTF-8 text") from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise TaskError(str(path), None, f"not TOML: {error}") from None


def _direction(path: Path, name: Any) -> Direction:
    try:
        return Direction(name)
    except ValueError:
        names = ", ".join(Direction)
        raise TaskError(str(path), "directions", f"'{name}' is not a direction", f"use {names}") from None


def _task(
    path: Path,
    table: Mapping[str, Any],
    direction: Direction,
    suite: str,
    source: str,
    functions: Mapping[str, list[str]],
) -> Task:
    data = {key: table[key] for key in _SHARED if key in table}
    data["suite"], data["direction"] = suite, direction.value
    data["arguments"] = [_tagged(argument) for argument in table.get("arguments", [])]
    data["cases"] = case_tables(path, table, direction)
    data["ranges"] = {name: _range(path, name, limits) for name, limits in table.get("hidden", {}).items()}
    data["work"] = table.get("work", {}).get(direction.value, {})
    data["exemptions"] = [entry for entry in table.get("exempt", []) if _concerns(entry, direction)]
    data["reference"] = {
        "source": source,
        "filename": f"{path.parent.name}/{REFERENCE}",
        "backward": "backward" if "backward" in functions else None,
    }
    task = _decode(path, data)
    validate(path, task, functions)
    return task


def _decode(path: Path, data: dict[str, Any]) -> Task:
    try:
        task: Task = decode(Task, data, "")
        return task
    except CodecError as error:
        key, _, problem = str(error).partition(": ")
        raise TaskError(str(path), key.lstrip(".") or None, problem) from None
    except UsageError as error:
        raise TaskError(str(path), None, str(error)) from None


def _tagged(argument: Any) -> Any:
    """Adds the codec's tag: an argument with `values` is a scalar."""
    if not isinstance(argument, dict):
        return argument
    return {"kind": "scalar" if "values" in argument else "tensor", **argument}


def _range(path: Path, name: str, limits: Any) -> dict[str, Any]:
    match limits:
        case [int(low), int(high)] if 1 <= low <= high:
            return {"low": low, "high": high}
        case {"low": int(low), "high": int(high), **rest} if 1 <= low <= high and rest.keys() <= {"multiple"}:
            return dict(limits)
        case {"choices": [_, *_], **rest} if not rest:
            return dict(limits)
    remedy = "write [low, high], {low, high, multiple} or {choices = [...]}"
    raise TaskError(str(path), f"hidden.{name}", f"{limits!r} is not a range", remedy)


def _concerns(entry: Mapping[str, Any], direction: Direction) -> bool:
    return bool(entry.get("direction", direction.value) == direction.value)
