"""A task: one direction of a PyTorch function as plain data, so that it can be sent to any machine.

A Task holds source text and formulas, never a callable. Sizes are names ("B", "S", "D") to which a Case gives values;
shapes and work are formulas over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

from warpwright.core.codec import OMIT_DEFAULT, content_id
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
    ENVELOPE = "envelope"
    """A size chosen by the loader: its result is reported beside the verdict and does not decide it."""


class Compare(StrEnum):
    """The criterion by which two outputs are equal."""

    VALUE = "value"
    INDEX = "index"
    """Positions, compared by the values that they select: ties may be broken either way."""
    EXACT = "exact"


class Layout(StrEnum):
    """The memory layout of incoming gradients."""

    CONTIGUOUS = "contiguous"
    EXPANDED = "expanded"
    TRANSPOSED = "transposed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorArg:
    """A tensor argument, or with `count` a list of tensors (then `i` is the position in formulas)."""

    KIND: ClassVar[str] = "tensor"
    name: str
    shape: tuple[Size, ...]
    dtype: str = "T"
    """A name from dtypes.py, or "T" for the dtype of the case."""
    init: str | None = None
    """The oracle's recipe for parameters. None takes the distribution of the draw; "constructed" keeps the value that a
    module's constructor gives a buffer.
    """
    below: Size | None = None
    """Integers only: values are drawn from [low, below)."""
    low: Size = 0
    grad: bool = True
    count: Size | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarArg:
    """A number, flag, string, list of numbers or None. Cases take the values in turn."""

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
    """Whether `backward` receives a gradient for it, if it is floating."""
    compare: Compare = Compare.VALUE
    selects: str | None = None
    """INDEX only: the function of the reference file whose result the positions select from, along the last
    dimension.
    """


class Precision(StrEnum):
    """How fp32 products may be computed, the same for the candidate and for torch."""

    STRICT = "strict"
    """In fp32."""
    TF32 = "tf32"
    """Rounded to TF32 first: torch's fast setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The allowed error of an implementation, relative to the errors of honest ones."""

    tf32: bool = False
    """Whether fp32 products may be rounded to TF32 first. The default is strict fp32."""
    slack: float = 1.0

    @property
    def precision(self) -> Precision:
        return Precision.TF32 if self.tf32 else Precision.STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The least work of a case, as formulas over its sizes; `e` is the size of "T" in bytes."""

    reads: Size = 0
    writes: Size = 0
    matrix: Size = 0
    """Operations that matrix units can perform."""
    scalar: Size = 0
    precision: str = "T"
    """The precision of the matrix operations, if it is not the dtype of the case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The range of hidden sizes: low to high inclusive in steps, or one of `choices`."""

    low: int = 1
    high: int = 1
    multiple: int = 1
    choices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One set of sizes and scalars on which a task is checked or timed."""

    name: str
    role: Role
    dims: Mapping[str, int] = field(default_factory=dict)
    dtype: str = "fp32"
    scalars: Mapping[str, Plain | tuple[Plain, ...]] = field(default_factory=dict)
    layout: Layout = Layout.CONTIGUOUS
    weight: float = 1.0
    stands_for: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """The name of the larger case that this one replaces; None for a case that replaces no other."""
    work: Work | None = field(default=None, metadata=OMIT_DEFAULT)
    """The least work of this case, where it was counted; None leaves it to the formulas of the task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """The inputs of a case: everything that determines them, bit for bit."""

    case: Case
    distribution: str = "normal"
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The source text of the reference, and how to call it."""

    source: str
    entry: str = "forward"
    style: str = "function"
    """"function", or "module": a class whose state is passed as arguments after the inputs."""
    filename: str = "reference.py"
    init: tuple[Plain | tuple[Plain, ...], ...] = ()
    """Positional arguments of a module's constructor."""
    init_named: Mapping[str, Plain | tuple[Plain, ...]] = field(default_factory=dict)
    backward: str | None = None
    """A function that computes the gradients, if they are not those of autograd through `entry`."""
    state: tuple[str, ...] = ()
    """Names of a module's parameters and buffers, in the order in which they follow the inputs."""
    dtype: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """The dtype to which a module is converted; None leaves it as its constructor makes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """A negative control that a task need not refute, with the reason."""

    control: str
    reason: str
    direction: Direction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One direction of one PyTorch function, with everything that determines whether a kernel is correct."""

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
    """Constant arguments that the optional entry `prepare` may transform."""
    backward_takes: tuple[str | tuple[str, ...], ...] = ()
    """BACKWARD only: the arguments of `backward` by name, for a task with its own order; names grouped in a tuple are
    passed as one list of tensors.
    """
    cases: tuple[Case, ...]
    ranges: Mapping[str, Range] = field(default_factory=dict)
    distributions: tuple[str, ...] = ("normal",)
    tolerance: Tolerance = field(default_factory=Tolerance)
    work: Work = field(default_factory=Work)
    reference: Reference
    variants: tuple[str, ...] = ()
    """Other honest functions of the reference file, which must pass."""
    baselines: tuple[str, ...] = ()
    """Functions of the reference file that call an expert library, timed beside eager and compile."""
    exemptions: tuple[Exemption, ...] = ()
    notes: tuple[str, ...] = ()
    """Remarks for the user on how the task was loaded, such as a setting that had to be left out."""

    @property
    def key(self) -> str:
        return f"{self.suite}/{self.name}:{self.direction}" if self.suite else f"{self.name}:{self.direction}"

    @property
    def id(self) -> str:
        return content_id(self)

    def cases_of(self, role: Role) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if case.role is role)

    @property
    def asked(self) -> tuple[Case, ...]:
        """The cases that a verdict stands for: all but the envelope."""
        return tuple(case for case in self.cases if case.role is not Role.ENVELOPE)

    @property
    def is_general(self) -> bool:
        """Whether the task covers every size in its ranges, as in our suites."""
        return not self.cases_of(Role.ENVELOPE)

    def in_general(self) -> Task:
        """Returns the task with the envelope among its check cases."""
        changed = (replace(case, role=Role.CHECK) if case.role is Role.ENVELOPE else case for case in self.cases)
        return replace(self, cases=tuple(changed))


def sizes(case: Case) -> dict[str, Number]:
    """The names that formulas may use in this case."""
    numbers = {name: value for name, value in case.scalars.items() if type(value) in (int, float)}
    return {**numbers, **case.dims, "e": dtype_named(case.dtype).bytes}  # type: ignore[dict-item]
