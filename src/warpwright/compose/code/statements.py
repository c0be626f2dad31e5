"""C++ statements. Their expressions know the names they read; plain strings are converted to expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import Enum

from warpwright.compose.code.text import Code, Piece, as_code

CODE = {"code": True}
"""Marks the fields that hold expressions."""
FULLY = 0
"""Unrolls a loop completely."""


@dataclass(frozen=True, slots=True)
class Node:
    """A statement, or a part of one."""

    def __post_init__(self) -> None:
        for name in _code_fields(type(self)):
            object.__setattr__(self, name, _as_code(getattr(self, name)))


_CODE_FIELDS: dict[type[Node], tuple[str, ...]] = {}


def _code_fields(kind: type[Node]) -> tuple[str, ...]:
    """Names of the fields that hold expressions, looked up once."""
    if kind not in _CODE_FIELDS:
        _CODE_FIELDS[kind] = tuple(item.name for item in fields(kind) if item.metadata)
    return _CODE_FIELDS[kind]


def _as_code(value: Piece | tuple[Piece, ...] | None) -> Code | tuple[Code, ...] | None:
    if isinstance(value, tuple):
        return tuple(map(as_code, value))
    return None if value is None else as_code(value)


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """The base of all statements."""


Body = Sequence[Statement]


class Form(Enum):
    """The layout of the body of a condition or loop."""

    BRACES = "in braces"
    BESIDE = "one, on the same line"
    BELOW = "one, on the next line"


@dataclass(frozen=True, slots=True)
class Also(Node):
    """Another variable of the same declaration or assignment."""

    name: str
    value: Piece = field(metadata=CODE)


@dataclass(frozen=True, slots=True)
class Let(Statement):
    """Declares a variable, or several of one type."""

    type: Piece = field(metadata=CODE)
    name: str
    value: Piece | None = field(default=None, metadata=CODE)
    also: tuple[Also, ...] = ()
    extent: Piece | None = field(default=None, metadata=CODE, kw_only=True)
    """The number of elements of an array."""
    comment: str = field(default="", kw_only=True)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that it declares."""
        return (self.name, *(other.name for other in self.also))


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    """Gives a variable or a place in memory another value."""

    target: Piece = field(metadata=CODE)
    value: Piece = field(metadata=CODE)
    operator: str = "="
    also: tuple[Also, ...] = ()
    comment: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class Do(Statement):
    """An expression that is a statement by itself: a call, or a return."""

    value: Piece = field(metadata=CODE)
    comment: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class Call(Statement):
    """A call whose arguments may take several lines."""

    function: Piece = field(metadata=CODE)
    arguments: tuple[Piece, ...] = field(metadata=CODE)
    returns: bool = False
    """Whether its result is returned."""


@dataclass(frozen=True, slots=True)
class Barrier(Do):
    """A call that synchronises threads, blocks or copies."""


@dataclass(frozen=True, slots=True)
class If(Statement):
    """Statements under a condition."""

    test: Piece = field(metadata=CODE)
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()
    form: Form = field(default=Form.BRACES, kw_only=True)


@dataclass(frozen=True, slots=True)
class Loop(Statement):
    """Statements that are repeated."""

    head: Piece = field(metadata=CODE)
    body: tuple[Statement, ...]
    unroll: int | None = None
    """The unroll factor of the loop; None leaves it to the compiler."""
    form: Form = field(default=Form.BRACES, kw_only=True)


@dataclass(frozen=True, slots=True)
class Lambda(Statement):
    """A lambda that captures the surrounding variables by reference."""

    name: str
    parameters: Piece = field(metadata=CODE)
    body: tuple[Statement, ...]
    result: str = ""


@dataclass(frozen=True, slots=True)
class Block(Statement):
    """Statements with a scope of their own."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Dispatch(Statement):
    """Statements of the host for one of several types of elements."""

    type: Piece = field(metadata=CODE)
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Comment(Statement):
    """A line for readers."""

    text: str


@dataclass(frozen=True, slots=True)
class Blank(Statement):
    """An empty line."""


@dataclass(frozen=True, slots=True)
class Wait(Statement):
    """The grid dependency wait of a kernel under programmatic dependent launch."""


@dataclass(frozen=True, slots=True)
class Launch(Statement):
    """Launches `kernel` on torch's current stream and checks for errors."""

    grid: Piece = field(metadata=CODE)
    threads: Piece = field(metadata=CODE)
    arguments: tuple[Piece, ...] = field(metadata=CODE)
    shared: Piece = field(default="0", metadata=CODE)
    is_early: bool = False
    """Whether the kernel uses programmatic dependent launch."""


@dataclass(frozen=True, slots=True)
class Raw(Statement):
    """Text as it is, which reads nothing that is asked for."""

    text: str


def under(test: Piece, then: Body) -> If:
    """Statements under a condition: in braces where there are several."""
    return If(test, tuple(then), form=Form.BRACES if then[1:] else Form.BESIDE)
