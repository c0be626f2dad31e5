"""Replaces functions by approximations if results are rounded more coarsely than the approximation's error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from warpwright.compose.code.definitions import Definition, Item
from warpwright.compose.code.statements import Body
from warpwright.compose.code.text import Function, Part
from warpwright.compose.code.traversal import functions, rewritten


def with_fast_math(items: Sequence[Item]) -> tuple[Item, ...]:
    """Replaces every function that has an approximation."""
    return tuple(
        replace(item, body=rewritten(item.body, _fast)) if isinstance(item, Definition) else item for item in items
    )


def could_be_faster(body: Body) -> bool:
    """Whether the statements call a function that has an approximation."""
    return any(function.fast for function in functions(body))


def _fast(part: Part) -> Part:
    return Function(part.fast) if isinstance(part, Function) and part.fast else part
