"""One source of several files: quoted includes that lie beside a file, and options that a comment names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from warpwright.core.errors import UsageError

_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*')
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", re.MULTILINE)
_OPTIONS = re.compile(r"^[ \t]*//[ \t]*warpwright:([^\n]*)$", re.MULTILINE)
_MACRO = re.compile(r"-[DU]\w+(=[\w.+-]*)?")
_DEEPEST = 32


def joined(text: str, folder: Path, includes: Sequence[Path] = ()) -> str:
    """Returns the text with its own headers in the place of the lines that include them.

    Only quoted names are looked for, beside the file and in the folders given; all others stay for the compiler.
    """
    return "\n".join(_lines(text, folder, includes, set(), 0))


def options_in(text: str) -> tuple[str, ...]:
    """The macros that comments such as `// warpwright: -DWIDE=1 -UDEBUG` set."""
    found = tuple(word for line in _OPTIONS.findall(text) for word in line.split())
    if wrong := next((word for word in found if not _MACRO.fullmatch(word)), None):
        raise UsageError(f"'// warpwright: {wrong}' sets no macro; write -DNAME, -DNAME=VALUE or -UNAME")
    return found


def _lines(text: str, folder: Path, includes: Sequence[Path], seen: set[Path], depth: int) -> Iterator[str]:
    for line in text.split("\n"):
        named = _INCLUDE.fullmatch(line)
        path = _found(named[1], (folder, *includes)) if named else None
        if path is None or depth == _DEEPEST:
            yield line
        elif path not in seen:
            header = path.read_text(encoding="utf-8", errors="surrogateescape")
            if _ONCE.search(header):
                seen.add(path)
            yield from _lines(_ONCE.sub("", header), path.parent, includes, seen, depth + 1)


def _found(name: str, folders: Sequence[Path]) -> Path | None:
    """The header in the first folder that has it; names that lead out of a folder by an absolute path are left."""
    places = (folder / name for folder in folders if not Path(name).is_absolute())
    return next((place.resolve() for place in places if place.is_file()), None)
