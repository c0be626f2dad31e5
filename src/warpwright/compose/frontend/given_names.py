"""Reads the names that the reference gives to values, and names their gradients accordingly."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

GIVEN = "given name"
"""The key of a name in the metadata of a traced node."""


class Assignment(NamedTuple):
    """An assignment to a name."""

    line: int
    name: str


@contextmanager
def given_names(source: str, filename: str) -> Iterator[None]:
    """Names nodes traced inside after the variables of the reference; gradients likewise."""
    import torch
    from torch.overrides import TorchFunctionMode

    found = assignments(source)
    last: dict[Assignment, Any] = {}

    class Watching(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = func(*args, **(kwargs or {}))
            assigned = found.get(_line_in(filename))
            if assigned and isinstance(made, torch.Tensor):
                last[assigned] = made
                if made.requires_grad:
                    made.register_hook(_marking(f"grad_{assigned.name}", lambda: last[assigned] is made))
            return made

    with Watching():
        yield
    for assigned, made in last.items():
        _mark(made, assigned.name)


def assignments(source: str) -> dict[int | None, Assignment]:
    """The assignment of each line, if it assigns to a single name that is also valid in C++."""
    found: dict[int | None, Assignment] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and (name := _assigned(node)):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            found |= dict.fromkeys(lines, Assignment(node.lineno, name))
    return found


def _assigned(node: ast.Assign) -> str | None:
    target = node.targets[0] if len(node.targets) == 1 else None
    name = target.id.strip("_") if isinstance(target, ast.Name) else ""
    return name if name and name.isascii() else None


def _line_in(filename: str) -> int | None:
    """The innermost line of a file that is being executed."""
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return frame.f_lineno if frame else None


def _marking(name: str, is_last: Callable[[], bool]) -> Callable[[Any], None]:
    """A gradient hook: gradients arrive after the statement has ended, when its last result is known."""

    def mark(gradient: Any) -> None:
        if is_last():
            _mark(gradient, name)

    return mark


def _mark(tensor: Any, name: str) -> None:
    from torch.fx.experimental.proxy_tensor import get_proxy_mode, get_proxy_slot

    mode = get_proxy_mode()
    traced: Any = get_proxy_slot(tensor, mode.tracer, None) if mode else None
    if traced is not None:
        traced.proxy.node.meta.setdefault(GIVEN, name)
