"""Which forms there are: every other module of this room is one."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from warpwright.core.candidate import Candidate
from warpwright.core.errors import UsageError
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Task


class Form(Protocol):
    """A way to hand a kernel on."""

    def files(self, task: Task, candidate: Candidate, sealed: Sealed) -> Mapping[str, str]:
        """The texts of the files, by name. Raises UsageError if the form cannot hold such a kernel or task."""


def form_named(name: str) -> Form:
    if name not in forms():
        raise UsageError(f"there is no form '{name}'; one of {', '.join(forms())}")
    return cast(Form, import_module(f"{__package__}.{name}"))


def forms() -> list[str]:
    """The names of all forms."""
    own = __name__.rpartition(".")[2]
    return sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name != own)
