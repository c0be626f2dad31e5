"""Messages between a loader and the child process that runs the user's file, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from warpwright.core.task import Plain, Work


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSeen:
    """An argument or result tensor of one run."""

    KIND: ClassVar[str] = "tensor"
    name: str
    shape: tuple[int, ...]
    dtype: str = "fp32"
    below: int | None = None
    low: int = 0
    draw: str | None = None
    """The distribution from which the user's file draws it, if known."""
    init: str | None = None
    """A separate recipe, for parameters and for inputs with a structure that must be kept."""
    grad: bool = True
    count: int | None = None
    """The number of tensors of this shape in a list; None for a single tensor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarSeen:
    KIND: ClassVar[str] = "scalar"
    name: str
    value: Plain | tuple[Plain, ...]


Seen = TensorSeen | ScalarSeen


class Purpose(StrEnum):
    GIVEN = "given"
    """Sizes that the user's file or command names."""
    SMALL = "small"
    """Smaller sizes that work as well."""
    REDUCED = "reduced"
    """Sizes to check: the given ones, or reduced ones if these are too large."""
    WITNESS = "witness"
    """Run only to confirm formulas; too large or too similar to be a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One call of the function with its arguments and results."""

    purpose: Purpose = Purpose.GIVEN
    number: int | None = None
    """The number of a given run, also in the runs that replace it."""
    arguments: tuple[Seen, ...]
    outputs: tuple[TensorSeen, ...]
    saves: tuple[TensorSeen, ...] = ()
    work: Work | None = None
    """The least work of the call; None if it was not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One robust-kbench configuration: the arguments of Model and get_inputs."""

    init: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The order to the child process."""

    kind: str
    """"problem", "function", "forward" or "backward"."""
    filename: str
    source: str
    entry: str = ""
    arguments: tuple[Seen, ...] = ()
    """The described inputs; one without a name takes the next free position."""
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The results of the child process."""

    runs: tuple[Run, ...]
    style: str = "function"
    state: tuple[str, ...] = ()
    dtype: str | None = None
    """The dtype that a module had to be converted to; None if it was left as its constructor makes it."""
    call: tuple[str, ...] = ()
    """The arguments in the order of the user's function, if the task has a different order."""
    mutates: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ("normal",)
    backward_takes: tuple[str | tuple[str, ...], ...] = ()
    summary: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A failure of the child, as the parts of a TaskError."""

    where: str
    key: str | None
    problem: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    findings: Findings | None = None
    problem: Problem | None = None
