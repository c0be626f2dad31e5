"""Loads a KernelBench problem file: `Model(*get_init_inputs())(*get_inputs())` is the reference."""

from __future__ import annotations

import ast
from pathlib import Path

from warpwright.core.errors import TaskError
from warpwright.core.task import Direction, Reference, Task
from warpwright.tasks.assemble import Loaded, assembled
from warpwright.tasks.probing.probe import probe
from warpwright.tasks.probing.seen import Job
from warpwright.tasks.suite import read_source

_ENTRY = "warpwright_model"
# Constructor arguments may be anything, even tensors, so the reference builds them as the file does.
_ADAPTER = """

def {entry}():
    return Model({arguments})
"""


def is_problem(path: Path) -> bool:
    source, functions = read_source(path)
    return _has_model(source) and "get_inputs" in functions


def is_meant_as_problem(path: Path) -> bool:
    """Whether a file in a folder should be reported: it is a problem, or cannot be parsed at all."""
    try:
        return _has_model(read_source(path)[0])
    except TaskError:
        return True


def _has_model(source: str) -> bool:
    return any(isinstance(node, ast.ClassDef) and node.name == "Model" for node in ast.parse(source).body)


def load_problem(path: Path, direction: Direction | None) -> tuple[Task, ...]:
    """Loads the requested direction of the problem, by default forward."""
    source, functions = read_source(path)
    findings = probe(Job(kind="problem", filename=str(path), source=source))
    arguments = "*get_init_inputs()" if "get_init_inputs" in functions else ""
    reference = Reference(
        source=source.rstrip() + "\n" + _ADAPTER.format(entry=_ENTRY, arguments=arguments),
        entry=_ENTRY,
        style="module",
        state=findings.state,
        filename=path.name,
    )
    asked = direction or Direction.FORWARD
    return (assembled(Loaded(name=path.stem, where=str(path), direction=asked, reference=reference), findings),)
