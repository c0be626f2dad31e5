"""Long lines of C++, broken where a reader would break them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

WIDTH, FURTHER = 120, " " * 8
"""The longest line, and how much further the rest of a broken one is indented."""
BREAKS = [
    re.compile(r"(?<=,) | (?=(?:&&|\|\|) )"),
    re.compile(r" (?=[?:<>] )"),
    re.compile(r" (?=[-+] )"),
    re.compile(r" (?=[*/%] )|(?<= =) "),
]
"""Behind a comma or in front of an operator, from what binds loosely to what binds tightly."""


def wrapped(lines: Iterable[str]) -> Iterator[str]:
    """Comments and directives stay as they are: their second line would need a mark of its own."""
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
    """The outermost and loosest, and the last of these; in the second half of the line if there is any."""
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
