"""The headers that definitions need."""

from __future__ import annotations

from collections.abc import Iterable

from warpwright.compose.code.definitions import Definition, Item, Verbatim
from warpwright.compose.code.statements import Launch
from warpwright.compose.code.traversal import functions, nodes

LAUNCHING = ("ATen/cuda/CUDAContext.h", "c10/cuda/CUDAException.h")
"""A launch needs torch's stream, and asks whether it went well."""


def headers_of(items: Iterable[Item]) -> set[str]:
    """Every header of which something is used."""
    return {header for item in items for header in _needed(item)} - {""}


def _needed(item: Item) -> set[str]:
    given = [parameter.header for parameter in item.parameters] if isinstance(item, Definition) else ()
    called = {function.header for function in functions(item.body)}
    launches = any(isinstance(node, Launch) and not node.is_early for node in nodes(item.body))
    return {*item.headers, *given, *called, *(LAUNCHING if launches else ())}


def is_called(name: str, items: Iterable[Item]) -> bool:
    """Whether a function that a source only has where it is called is called."""
    return any(
        name in item.calls if isinstance(item, Verbatim) else name in {call.text for call in functions(item.body)}
        for item in items
    )


def has_parameter(type_: str, items: Iterable[Item]) -> bool:
    """Whether a function takes something of that type."""
    return any(given.type == type_ for item in items if isinstance(item, Definition) for given in item.parameters)
