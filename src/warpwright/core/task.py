"""What is asked: a PyTorch function as plain data, so that it travels to any machine.

A Task holds source text and formulas, never a callable. Sizes are names ("B", "S", "D") that a Case gives
values to; shapes and work are formulas over them. One Task is one direction of one function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from warpwright.core.codec import content_id
from warpwright.core.dtypes import dtype_named
from warpwright.core.formula import Number

Plain = bool | int | float | str | None
Size = int | str
"""A number, or a formula over the names of a case."""


class Direction(StrEnum):
    FORWARD = "forward"
    BACKWARD = "backward"
    TRAINING = "training"


class Role(StrEnum):
    CHECK = "check"
    TIME = "time"
    HIDDEN = "hidden"


class Compare(StrEnum):
    """What makes two outputs equal."""

    VALUE = "value"
    INDEX = "index"
    """Positions, compared by the value they select: ties may be broken either way."""
    EXACT = "exact"


class Layout(StrEnum):
    """How the gradients that arrive from above lie in memory."""

    CONTIGUOUS = "contiguous"
    EXPANDED = "expanded"
    TRANSPOSED = "transposed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorArg:
    """A tensor argument, or a list of tensors where `count` is given (then `i` is the position in formulas)."""

    KIND: ClassVar[str] = "tensor"
    name: str
    shape: tuple[Size, ...]
    dtype: str = "T"
    """A name of dtypes.py, or "T" for the case's own."""
    init: str | None = None
    """A recipe of the oracle's for parameters; None takes the distribution of the draw, "constructed" leaves a buffer
    of a module as its constructor makes it."""
    below: Size | None = None
    """Integers only: values are drawn from [low, below)."""
    low: Size = 0
    grad: bool = True
    count: Size | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarArg:
    """A number, flag, string, list of numbers or None. Each case takes the next of `values` in turn."""

    KIND: ClassVar[str] = "scalar"
    name: str
    values: tuple[Plain | tuple[Plain, ...], ...]


Argument = TensorArg | ScalarArg


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A tensor that comes back: returned, saved for the backward pass, or mutated in place."""

    name: str
    shape: tuple[Size, ...]
    dtype: str = "T"
    grad: bool = True
    """Whether a gradient arrives for it, if it is floating at all."""
    compare: Compare = Compare.VALUE
    selects: str | None = None
    """INDEX only: the function of the reference file that gives the values selected from, along the last dimension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far from the truth an honest implementation may be, in units of what honest ones are."""

    tf32: bool = False
    """Whether fp32 products may be rounded to tf32 first. Strict fp32 unless a task says otherwise."""
    slack: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The least that must be done, as formulas over the case's sizes; `e` is the size of "T" in bytes."""

    reads: Size = 0
    writes: Size = 0
    matrix: Size = 0
    """Operations that matrix units can do."""
    scalar: Size = 0
    precision: str = "T"
    """What the matrix operations are done in, where it is not the case's own type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Where hidden sizes come from: low to high inclusive in steps, or one of `choices`."""

    low: int = 1
    high: int = 1
    multiple: int = 1
    choices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One set of sizes and scalars that a task is checked or timed on."""

    name: str
    role: Role
    dims: Mapping[str, int] = field(default_factory=dict)
    dtype: str = "fp32"
    scalars: Mapping[str, Plain | tuple[Plain, ...]] = field(default_factory=dict)
    layout: Layout = Layout.CONTIGUOUS
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One filling of a case with numbers: everything that decides the inputs, bit for bit."""

    case: Case
    distribution: str = "normal"
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Source text of the truth, and how to call what is in it."""

    source: str
    entry: str = "forward"
    style: str = "function"
    """"function", or "module": a class whose state comes in as arguments after the inputs."""
    filename: str = "reference.py"
    init: tuple[Plain | tuple[Plain, ...], ...] = ()
    """Positional arguments of a module's constructor."""
    init_named: Mapping[str, Plain | tuple[Plain, ...]] = field(default_factory=dict)
    backward: str | None = None
    """A function for the gradients, where autograd of `entry` does not define them."""
    state: tuple[str, ...] = ()
    """Names of the parameters and buffers of a module, in the order they follow the inputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """A negative control that a task need not refute, and why."""

    control: str
    reason: str
    direction: Direction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One direction of one PyTorch function, with everything that decides what a right kernel is."""

    name: str
    suite: str = ""
    family: str = ""
    summary: str = ""
    direction: Direction = Direction.FORWARD
    dtypes: tuple[str, ...] = ("fp32",)
    arguments: tuple[Argument, ...]
    outputs: tuple[Output, ...]
    saves: tuple[Output, ...] = ()
    mutates: tuple[str, ...] = ()
    prepares: tuple[str, ...] = ()
    """Constant arguments that an optional `prepare` entry may turn into something of its own."""
    backward_takes: tuple[str | tuple[str, ...], ...] = ()
    """BACKWARD only: what `backward` is called with, by name, where a task keeps an order of its own; names grouped in
    a tuple arrive as one list of tensors."""
    cases: tuple[Case, ...]
    ranges: Mapping[str, Range] = field(default_factory=dict)
    distributions: tuple[str, ...] = ("normal",)
    tolerance: Tolerance = field(default_factory=Tolerance)
    work: Work = field(default_factory=Work)
    reference: Reference
    variants: tuple[str, ...] = ()
    """Other honest functions of the reference file that must pass."""
    baselines: tuple[str, ...] = ()
    """Functions of the reference file that call an expert library, timed beside eager and compile."""
    exemptions: tuple[Exemption, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know about how the task was loaded, such as a setting that had to be left out."""

    @property
    def key(self) -> str:
        return f"{self.suite}/{self.name}:{self.direction}" if self.suite else f"{self.name}:{self.direction}"

    @property
    def id(self) -> str:
        return content_id(self)

    def cases_of(self, role: Role) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if case.role is role)


def sizes(case: Case) -> dict[str, Number]:
    """The names that formulas may use in this case."""
    numbers = {name: value for name, value in case.scalars.items() if type(value) in (int, float)}
    return {**numbers, **case.dims, "e": dtype_named(case.dtype).bytes}  # type: ignore[dict-item]
