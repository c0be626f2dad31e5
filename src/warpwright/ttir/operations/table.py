"""The table of operations. An operation's function gets the machine, the operation and its operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from warpwright.core.errors import Undecided
from warpwright.ttir.syntax.tree import Operation

if TYPE_CHECKING:
    from warpwright.ttir.machine import Machine

Meaning = Callable[["Machine", Operation, list[Any]], Any]
"""Returns one value, or a tuple of values where the operation has several results."""
MEANINGS: dict[str, Meaning] = {}


def means(*names: str) -> Callable[[Meaning], Meaning]:
    """Enter a function into the table."""

    def enter(meaning: Meaning) -> Meaning:
        for name in names:
            MEANINGS[name] = meaning
        return meaning

    return enter


def meaning(operation: Operation) -> Meaning:
    found = MEANINGS.get(operation.name)
    if found is None:
        raise Undecided(f"unsupported: {operation.name}")
    return found
