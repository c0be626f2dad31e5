"""Moves statements that do not depend on a name before it."""

from __future__ import annotations

from warpwright.compose.code.statements import Body, Let, Statement
from warpwright.compose.code.traversal import names


def parted(body: Body, late: str) -> tuple[list[Statement], list[Statement]]:
    """Splits statements into declarations that do not depend on a name, and the rest."""
    before: list[Statement] = []
    after: list[Statement] = []
    waiting = {late}
    for statement in body:
        if isinstance(statement, Let) and waiting.isdisjoint(names([statement])):
            before.append(statement)
        else:
            after.append(statement)
            waiting |= set(statement.names) if isinstance(statement, Let) else set()
    return before, after
