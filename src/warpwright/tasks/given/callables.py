"""Turns a Python function into standalone source text, which can run in another process or on another machine."""

from __future__ import annotations

import ast
import builtins
import inspect
import sysconfig
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from warpwright.core.errors import UsageError

_CONSTANTS = (bool, int, float, str, type(None))
_PACKAGES = {"site-packages", "dist-packages"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Source text that contains a function, and descriptions of its inputs."""

    source: str
    entry: str
    inputs: tuple[str, ...] = ()


def written(function: FunctionType) -> str:
    """Returns the function's text, preceded by the imports, constants, functions and classes that it uses."""
    text = _Text()
    text.add(function.__name__, function)
    return "\n".join([*dict.fromkeys(text.imports), "", *text.parts.values()])


@dataclass(slots=True)
class _Text:
    """Parts of the text, each after those that it uses."""

    imports: list[str] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def add(self, name: str, value: Any) -> None:
        """Adds the text that gives `name` its value."""
        if name in self.seen:
            return
        self.seen.add(name)
        if line := _import_line(name, value):
            self.imports.append(line)
        elif isinstance(value, FunctionType | type):
            self._add_source(name, value)
        elif _is_constant(value):
            self.parts[name] = f"{name} = {value!r}"
        elif repr(value).startswith("torch."):  # the repr of a dtype is Python
            self.imports.append("import torch")
            self.parts[name] = f"{name} = {value!r}"
        else:
            kind = type(value).__name__
            raise UsageError(f"the function uses {name}, a {kind} outside of it; pass it as an argument")

    def _add_source(self, name: str, value: FunctionType | type) -> None:
        try:
            source = textwrap.dedent(inspect.getsource(value))
            tree = ast.parse(source)
        except (OSError, TypeError, SyntaxError):
            raise UsageError(f"the source of {name} cannot be read; write it with `def` in a file or a cell") from None
        if not isinstance(tree.body[0], ast.FunctionDef | ast.ClassDef):
            raise UsageError("a lambda has no name to call it by; write it with `def`")
        known = _names_known_to(value)
        for used in dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)):
            if used in known and used != name:
                self.add(used, known[used])
        same = tree.body[0].name == name
        self.parts[name] = source if same else f"{source}\n{name} = {tree.body[0].name}\n"


def _names_known_to(value: FunctionType | type) -> Mapping[str, Any]:
    """The globals and closure variables of a function, or those of the methods of a class."""
    if isinstance(value, type):
        methods = [item for item in vars(value).values() if isinstance(item, FunctionType)]
        module = vars(inspect.getmodule(value)) if inspect.getmodule(value) else {}
        return {**module, **{name: found for item in methods for name, found in _names_known_to(item).items()}}
    closure = inspect.getclosurevars(value).nonlocals
    return {**{name: found for name, found in value.__globals__.items() if not hasattr(builtins, name)}, **closure}


def _is_constant(value: Any) -> bool:
    return isinstance(value, _CONSTANTS) or (isinstance(value, tuple | list) and all(map(_is_constant, value)))


def _import_line(name: str, value: Any) -> str | None:
    """Returns the import of a module or of a name from an installed package; None for the user's own objects."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}" if _is_installed(value) else None
    if not isinstance(value, FunctionType | BuiltinFunctionType | type):
        return None
    home = inspect.getmodule(value)
    if isinstance(value, BuiltinFunctionType) and (home is None or not hasattr(home, value.__name__)):
        import torch

        home = torch
    known = home is not None and _is_installed(home) and getattr(home, value.__name__, None) is value
    return f"from {home.__name__} import {value.__name__} as {name}" if home and known else None


def _is_installed(module: ModuleType) -> bool:
    """Whether another process can import the module: it is part of Python or of an installed package."""
    file = getattr(module, "__file__", None)
    if file is None:
        return module.__name__ != "__main__"
    path = Path(file).resolve()
    return not _PACKAGES.isdisjoint(path.parts) or path.is_relative_to(Path(sysconfig.get_path("stdlib")).resolve())
