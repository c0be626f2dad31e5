"""Functions at the level of a file: kernels, device functions and launchers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpwright.compose.code.printer import indented, printed, signature
from warpwright.compose.code.statements import Node, Raw, Statement


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition(Node):
    """A function with its body."""

    comments: tuple[str, ...] = ()
    template: str = ""
    """Its template parameters."""
    head: str
    """All that stands before its parameters."""
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    is_kernel: bool = True

    @property
    def lines(self) -> list[str]:
        """The definition as text."""
        head = signature(self.head, self.parameters)
        template = [f"template <{self.template}>"] if self.template else []
        comments = [f"// {line}" for line in self.comments]
        return [*comments, *template, *head[:-1], f"{head[-1]} {{", *indented(printed(self.body)), "}"]


Item = Definition | Raw
"""Something that stands in a file by itself."""


def text_of(items: Sequence[Item]) -> str:
    """Definitions one after the other, as in a file."""
    return "\n\n".join(item.text if isinstance(item, Raw) else "\n".join(item.lines) for item in items)
