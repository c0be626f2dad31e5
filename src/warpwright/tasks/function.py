"""Loads `path/ref.py:fn` and `path/model.py:Net` with inputs that the user describes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from warpwright.core.errors import TaskError
from warpwright.core.task import Direction, Reference, Task
from warpwright.tasks.assemble import Loaded, assembled
from warpwright.tasks.given.described import described
from warpwright.tasks.probing.probe import probe
from warpwright.tasks.probing.seen import Job
from warpwright.tasks.suite import read_source


def load_function(path: Path, name: str, inputs: Sequence[str], direction: Direction | None) -> tuple[Task, ...]:
    """Loads the requested direction of a function, by default forward."""
    source, _ = read_source(path)
    return (function_task(source, path, name, inputs, direction),)


def function_task(source: str, path: Path, name: str, inputs: Sequence[str], direction: Direction | None) -> Task:
    """Builds the task of one function in a source text; the path is only its name."""
    if not inputs:
        remedy = "describe its inputs, such as --input 8,512,768:bf16"
        raise TaskError(f"{path}:{name}", None, "does not say how large its inputs are", remedy)
    findings = probe(Job(kind="function", filename=str(path), source=source, entry=name, arguments=described(inputs)))
    reference = Reference(
        source=source,
        entry=name,
        style=findings.style,
        state=findings.state,
        filename=path.name,
        dtype=findings.dtype,
    )
    asked = direction or Direction.FORWARD
    return assembled(Loaded(name=name, where=f"{path}:{name}", direction=asked, reference=reference), findings)
