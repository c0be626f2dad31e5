"""The tree of a module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwright.ttir.syntax.locations import Line
from warpwright.ttir.syntax.types import Type


@dataclass(slots=True)
class Block:
    """Operations in order; the last one ends the block. `label` is empty for an entry without one."""

    label: str
    parameters: list[tuple[str, Type]] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


Region = list[Block]


@dataclass(slots=True)
class Operation:
    """One operation. `words` are the bare words and strings before the types, `tag` is the place of its location."""

    name: str
    results: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    taken: list[Type] = field(default_factory=list)
    given: list[Type] = field(default_factory=list)
    targets: list[tuple[str, list[str]]] = field(default_factory=list)
    """The blocks that a branch leads to, with the values it hands over."""
    tag: str = ""
    line: Line | None = None
    used: bool = True
    """Whether anything reads a result."""

    @property
    def type(self) -> Type:
        """The type of the first result, or of the last operand where both are the same."""
        return self.given[0] if self.given else self.taken[-1]

    def number(self, key: str, default: int = 0) -> int:
        """An attribute such as `axis = 0 : i32`."""
        return int(self.attributes[key].split(":")[0], 0) if key in self.attributes else default


@dataclass(slots=True)
class Function:
    name: str
    parameters: list[tuple[str, Type]]
    hints: dict[str, dict[str, str]]
    """The attributes of each parameter, such as `tt.divisibility`."""
    body: Region
    public: bool


@dataclass(frozen=True, slots=True)
class Module:
    functions: Mapping[str, Function]

    def entry(self) -> Function:
        """The kernel."""
        return next(function for function in self.functions.values() if function.public)
