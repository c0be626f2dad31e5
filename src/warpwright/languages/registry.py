"""Which languages there are: every package in this room is one, and has its frontend under the name FRONTEND."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

from warpwright import languages
from warpwright.core.candidate import CUDA, Candidate, Flags
from warpwright.core.errors import UsageError
from warpwright.languages.frontend import Frontend


@cache
def frontends() -> Mapping[str, Frontend]:
    """All languages by name. The one of candidates that name none comes first."""
    packages = [module.name for module in pkgutil.iter_modules(languages.__path__) if module.ispkg]
    ordered = sorted(packages, key=lambda name: (name != CUDA, name))
    return {name: import_module(f"{languages.__name__}.{name}").FRONTEND for name in ordered}


def named(name: str) -> Frontend:
    found = next((item for key, item in frontends().items() if name in (key, *item.aliases)), None)
    if found is None:
        raise UsageError(f"there is no language '{name}'; one of {', '.join(frontends())}")
    return found


def of(candidate: Candidate) -> Frontend:
    """The frontend of the language that a candidate is written in."""
    return named(candidate.language)


def for_file(path: Path, text: str) -> Frontend:
    """The language that claims a file; CUDA C++ if none does."""
    return _claiming(path, text) or named(CUDA)


def _claiming(path: Path, text: str) -> Frontend | None:
    fitting = (item for item in frontends().values() if path.name.endswith(item.endings))
    return next((item for item in fitting if item.claims(text)), None)


def file_endings() -> tuple[str, ...]:
    """The endings of all languages."""
    return tuple(ending for item in frontends().values() for ending in item.endings)


def file_name(stem: str, language: str = CUDA) -> str:
    """A file name with the usual ending of a language."""
    return stem + named(language).endings[0]


def files_in(folder: Path) -> list[Path]:
    """Every file below a folder that some language claims, in the order of their paths."""
    found = (path for ending in file_endings() for path in folder.rglob(f"*{ending}"))
    return sorted({path for path in found if _claiming(path, _text(path))})


def read(path: Path, flags: Flags, includes: Sequence[Path] = ()) -> Candidate:
    """A file as a candidate, with the files of the user's that it includes.

    What is not text is for the first rung to say, not for us to guess.
    """
    text = _text(path)
    language = for_file(path, text)
    source = language.joined(text, path.parent, includes)
    return Candidate(source=source, language=language.name, flags=with_options(source, flags, language))


def with_options(source: str, flags: Flags, language: Frontend) -> Flags:
    """The flags with those that the source asks for itself, which come first."""
    own = [flag for flag in language.options(source) if flag not in flags.extra]
    return replace(flags, extra=(*own, *flags.extra))


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
