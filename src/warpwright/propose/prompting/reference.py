"""Extracts the part of a reference file that defines correct results."""

from __future__ import annotations

import ast
import itertools

from warpwright.core.task import Direction, Task

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def reference(task: Task) -> str:
    """The part of the reference file that defines correct results: the entry and every name it uses."""
    told = task.reference
    names = {told.entry, *(output.selects for output in task.outputs if output.selects)}
    if task.direction is not Direction.FORWARD and told.backward:
        names.add(told.backward)
    if task.direction is Direction.BACKWARD and task.saves:
        names.add("save")
    try:
        return _sliced(told.source, names)
    except (SyntaxError, ValueError, RecursionError):
        return told.source.strip()


def _sliced(source: str, wanted: set[str]) -> str:
    """The statements that define the wanted names and, transitively, the names that those statements use."""
    tree, lines = ast.parse(source), source.splitlines()
    kept: set[int] = set()
    pending = set(wanted)
    while pending:
        name = pending.pop()
        for number, node in enumerate(tree.body):
            if number not in kept and name in _defined(node):
                kept.add(number)
                pending |= {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    if not kept:
        return source.strip()
    return _joined([tree.body[number] for number in sorted(kept)], lines)


def _joined(nodes: list[ast.stmt], lines: list[str]) -> str:
    """Joins statements, with a blank line around definitions."""
    text = _lines_of(nodes[0], lines)
    for before, after in itertools.pairwise(nodes):
        apart = isinstance(before, _DEFINITIONS) or isinstance(after, _DEFINITIONS)
        text += ("\n\n" if apart else "\n") + _lines_of(after, lines)
    return text


def _defined(node: ast.stmt) -> set[str]:
    """The names that a top-level statement defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import() | ast.ImportFrom():
            return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}


def _lines_of(node: ast.stmt, lines: list[str]) -> str:
    """The source text of a statement, including decorators."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return "\n".join(lines[first - 1 : node.end_lineno])
