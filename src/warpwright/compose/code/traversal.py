"""Visits and rewrites the expressions of statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

from warpwright.compose.code.statements import Node, Statement
from warpwright.compose.code.text import Code, Function, Part


def nodes(found: Iterable[Node]) -> Iterator[Node]:
    """Yields statements and all nested statements, outermost first."""
    for node in found:
        yield node
        yield from nodes(child for value in _values(node) if isinstance(value, tuple) for child in value if _is(child))


def _is(child: object) -> bool:
    return isinstance(child, Node)


def _values(node: Node) -> list[Any]:
    return [getattr(node, item.name) for item in fields(node)]


def expressions(found: Iterable[Node]) -> Iterator[Code]:
    """Every expression in statements."""
    for node in nodes(found):
        for value in _values(node):
            yield from (item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, Code))


def names(found: Iterable[Node]) -> set[str]:
    """Every name that statements read."""
    return {name for item in expressions(found) for name in item.names}


def functions(found: Iterable[Node]) -> set[Function]:
    """Every function that they call."""
    return {function for item in expressions(found) for function in item.functions}


def divisors(found: Iterable[Node]) -> set[str]:
    """The names and numbers that divide positions in these statements."""
    return {name for item in expressions(found) for name in item.divisors}


def rewritten(found: Iterable[Statement], change: Callable[[Part], Part]) -> tuple[Statement, ...]:
    """The same statements with every part of their expressions changed."""
    return tuple(_rewritten(node, change) for node in found)


def _rewritten(value: Any, change: Callable[[Part], Part]) -> Any:
    match value:
        case Code(parts=parts):
            return Code(tuple(map(change, parts)))
        case tuple():
            return tuple(_rewritten(item, change) for item in value)
        case Node():
            return replace(
                value, **{item.name: _rewritten(getattr(value, item.name), change) for item in fields(value)}
            )
    return value


N = TypeVar("N", bound=Node)


def changed(node: N, change: Callable[[Node], Node | None]) -> N:
    """The same with everything that stands within it changed, or left out where that is None."""
    found = {item.name: getattr(node, item.name) for item in fields(node)}
    return replace(node, **{name: _changed(value, change) for name, value in found.items()})


def _changed(value: Any, change: Callable[[Node], Node | None]) -> Any:
    if not isinstance(value, tuple):
        return value
    return tuple(
        kept
        for item in value
        if (kept := change(changed(item, change)) if isinstance(item, Node) else item) is not None
    )
