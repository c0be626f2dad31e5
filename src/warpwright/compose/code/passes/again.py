"""Repeats statements: turns their declarations into assignments and drops comments."""

from __future__ import annotations

from warpwright.compose.code.statements import Assign, Body, Comment, Let, Statement


def again(body: Body) -> list[Statement]:
    """The same statements with assignments in place of declarations, and without comments."""
    return [_assigned(statement) for statement in body if not isinstance(statement, Comment)]


def _assigned(statement: Statement) -> Statement:
    if not isinstance(statement, Let) or statement.value is None:
        return statement
    return Assign(statement.name, statement.value, also=statement.also, comment=statement.comment)
