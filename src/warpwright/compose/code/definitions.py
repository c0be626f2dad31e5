"""Functions at the level of a file: kernels, device functions and launchers."""

from __future__ import annotations

from dataclasses import dataclass

from warpwright.compose.code.printer import indented, printed, signature
from warpwright.compose.code.statements import Node, Raw, Statement


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function."""

    type: str
    name: str
    header: str = ""
    """The header that declares its type."""

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition(Node):
    """A function with its body."""

    comments: tuple[str, ...] = ()
    template: str = ""
    """Its template parameters."""
    head: str
    """The text before its parameters."""
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    headers: tuple[str, ...] = ()
    """The headers that its result and parameters need."""
    is_kernel: bool = True

    @property
    def lines(self) -> list[str]:
        """The definition as text."""
        head = signature(self.head, self.parameters)
        template = [f"template <{self.template}>"] if self.template else []
        comments = [f"// {line}" for line in self.comments]
        return [*comments, *template, *head[:-1], f"{head[-1]} {{", *indented(printed(self.body)), "}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verbatim(Node):
    """Text as it stands in a file, but for the places where a kernel waits or is launched."""

    body: tuple[Statement, ...]
    headers: tuple[str, ...] = ()
    """The headers that it needs."""
    calls: tuple[str, ...] = ()
    """The functions that it calls, of those that a source only has where they are called."""
    is_kernel: bool = False

    @property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return [line for part in self.body for line in _placed(part)]


def _placed(part: Statement) -> list[str]:
    lines = printed([part])
    return lines if isinstance(part, Raw) else indented(lines)


def verbatim(*parts: str | Statement, headers: tuple[str, ...] = (), calls: tuple[str, ...] = ()) -> Verbatim:
    """Text with statements in between."""
    body = tuple(Raw(part) if isinstance(part, str) else part for part in parts)
    return Verbatim(body=body, headers=headers, calls=calls)


Item = Definition | Verbatim
"""A top-level item of a file."""
