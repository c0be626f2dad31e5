"""Names for values: those that the reference gives them itself."""

from __future__ import annotations

import ast
import re
from typing import Any


def assigned_names(graph: Any, source: str, filename: str) -> dict[str, str]:
    """By node: the variable that the statement it comes from assigns, for the last node of every such statement."""
    targets = _targets(source)
    last: dict[int, str] = {}
    for node in graph.nodes:
        line = _line(node.meta.get("stack_trace") or "", filename)
        if line in targets and node.op == "call_function":
            last[line] = node.name
    return {node: targets[line] for line, node in last.items()}


def _line(trace: str, filename: str) -> int | None:
    """The innermost line of the reference that a stack goes through."""
    found = re.findall(rf'File "{re.escape(filename)}", line (\d+)', trace)
    return int(found[-1]) if found else None


def _targets(source: str) -> dict[int, str]:
    """The name that each line's statement assigns, where it is a single plain one."""
    found: dict[int, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            last = node.end_lineno or node.lineno
            found |= dict.fromkeys(range(node.lineno, last + 1), node.targets[0].id)
    return found
