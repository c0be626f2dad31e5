"""Loads a robust-kbench task directory: func_{forward,backward}.py with config_{forward,backward}.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from warpwright.core.errors import TaskError
from warpwright.core.task import Direction, Reference, Task
from warpwright.tasks.assemble import Loaded, assembled
from warpwright.tasks.probing.probe import probe
from warpwright.tasks.probing.seen import Job, Setting
from warpwright.tasks.replay import FORWARD, adapter
from warpwright.tasks.suite import read_source, read_text

_DIRECTIONS = (Direction.FORWARD, Direction.BACKWARD)


def is_directory(path: Path) -> bool:
    return any(_function_file(path, direction).is_file() for direction in _DIRECTIONS)


def load_directory(path: Path, direction: Direction | None) -> tuple[Task, ...]:
    """Loads every direction for which the directory has a file, or the requested one."""
    there = [item for item in _DIRECTIONS if _function_file(path, item).is_file()]
    if direction is not None and direction not in there:
        has = " and ".join(_function_file(path, item).name for item in there)
        raise TaskError(str(path), None, f"has no {direction} direction, only {has}")
    return tuple(_load(path, item) for item in there if direction in (None, item))


def _load(path: Path, direction: Direction) -> Task:
    file = _function_file(path, direction)
    source, _ = read_source(file)
    settings = tuple(_settings(path / f"config_{direction}.json"))
    findings = probe(Job(kind=direction.value, filename=str(file), source=source, settings=settings))
    added = adapter(findings)
    reference = Reference(
        source=source.rstrip() + "\n" + added,
        entry=FORWARD if added else "forward_fn",
        filename=f"{path.resolve().name}/{file.name}",
    )
    name = path.resolve().name
    loaded = Loaded(name=name, where=str(file), direction=direction, reference=reference, any_layout=False)
    return assembled(loaded, findings)


def _function_file(path: Path, direction: Direction) -> Path:
    return path / f"func_{direction}.py"


def _settings(path: Path) -> Iterator[Setting]:
    """Yields each combination of init, input and shared configurations once, single ones first; shared values
    override.
    """
    table = _configurations(path)
    met: set[str] = set()
    for breadth in ("single", "multi"):
        lists = [_listed(path, table, f"{breadth}_{kind}_configs") for kind in ("init", "input", "shared")]
        for init, inputs, shared in product(*lists):
            setting = Setting(init={**init, **shared}, inputs={**inputs, **shared})
            key = json.dumps([setting.init, setting.inputs], sort_keys=True)
            if key not in met:
                met.add(key)
                yield setting


def _configurations(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        table = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise TaskError(f"{path}:{error.lineno}", None, f"not JSON: {error.msg}") from None
    if not isinstance(table, dict):
        raise TaskError(str(path), None, "is not a table of configurations", 'write {"single_input_configs": [...]}')
    return table


def _listed(path: Path, table: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Returns the configurations under a key; an absent or empty list stands for one empty configuration."""
    entries = table.get(key) or [{}]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise TaskError(str(path), key, "is not a list of tables", 'write [{"batch_size": 16}]')
    return entries
