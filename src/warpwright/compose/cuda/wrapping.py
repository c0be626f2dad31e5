"""Wraps long lines of C++ at natural positions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

WIDTH, FURTHER = 120, " " * 8
"""The longest line, and the additional indentation of continuation lines."""
BREAKS = [
    re.compile(r"(?<=,) | (?=(?:&&|\|\|) )"),
    re.compile(r" (?=[?:<>] )"),
    re.compile(r" (?=[-+] )"),
    re.compile(r" (?=[*/%] )|(?<= =) "),
]
"""Break positions, from loosely to tightly binding: after a comma, before an operator."""


def wrapped(lines: Iterable[str]) -> Iterator[str]:
    """Wraps lines, except comments and directives, whose continuation would need its own marker."""
    for line in lines:
        if len(line) <= WIDTH or "//" in line or line.lstrip().startswith("#") or line.endswith("\\"):
            yield line
        else:
            yield from _broken(line)


def _broken(line: str) -> Iterator[str]:
    indent = line[: len(line) - len(line.lstrip())] + FURTHER
    while len(line) > WIDTH and (place := _best_break(line, len(indent))):
        yield line[:place]
        line = indent + line[place + 1 :]
    yield line


def _best_break(line: str, least: int) -> int | None:
    """The last of the outermost, loosest positions, in the second half of the line if possible."""
    found = [
        (-_depth(line[: match.start()]), -tightness, match.start())
        for tightness, pattern in enumerate(BREAKS)
        for match in pattern.finditer(line)
        if least < match.start() <= WIDTH
    ]
    late = [item for item in found if item[2] > WIDTH // 2]
    return max(late or found, default=(0, 0, None))[2]


def _depth(text: str) -> int:
    return sum(text.count(opening) - text.count(closing) for opening, closing in ("()", "[]", "{}"))
