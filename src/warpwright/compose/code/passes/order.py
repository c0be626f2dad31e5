"""Statements that need not wait for a name come before it."""

from __future__ import annotations

from warpwright.compose.code.statements import Body, Let, Statement
from warpwright.compose.code.traversal import names


def parted(body: Body, late: str) -> tuple[list[Statement], list[Statement]]:
    """Declarations that take nothing from a name, and all other statements."""
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
