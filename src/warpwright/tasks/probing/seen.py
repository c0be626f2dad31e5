"""The words between a loader and the child process that runs the user's file: plain data both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from warpwright.core.task import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSeen:
    """A tensor that goes in or comes out, in one run."""

    KIND: ClassVar[str] = "tensor"
    name: str
    shape: tuple[int, ...]
    dtype: str = "fp32"
    below: int | None = None
    low: int = 0
    draw: str | None = None
    """The distribution the user's file draws it from, where it says so."""
    init: str | None = None
    """A recipe of its own: parameters, and inputs with a structure that must be kept."""
    grad: bool = True
    count: int | None = None
    """A list of so many tensors, all of this shape."""


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
    """What is checked of the given sizes: they themselves, or where they are too large, sizes that stand for them."""
    WITNESS = "witness"
    """Seen only to make sure of formulas; too large or too alike to be a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One call of the function, with everything that went in and came out."""

    purpose: Purpose = Purpose.GIVEN
    number: int | None = None
    """Of a given run, and of those that stand for it."""
    arguments: tuple[Seen, ...]
    outputs: tuple[TensorSeen, ...]
    saves: tuple[TensorSeen, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One robust-kbench configuration: what Model and get_inputs are called with."""

    init: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the child is to find out."""

    kind: str
    """"problem", "function", "forward" or "backward"."""
    filename: str
    source: str
    entry: str = ""
    arguments: tuple[Seen, ...] = ()
    """What the user described; a nameless one takes the next place that is free."""
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the child found out."""

    runs: tuple[Run, ...]
    style: str = "function"
    state: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    """The arguments of the user's function in its own order, where the task's is another."""
    mutates: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ("normal",)
    backward_takes: tuple[str | tuple[str, ...], ...] = ()
    summary: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why nothing could be found out: the parts of a TaskError."""

    where: str
    key: str | None
    problem: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    findings: Findings | None = None
    problem: Problem | None = None
