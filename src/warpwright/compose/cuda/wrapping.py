"""Wraps long lines of C++ at natural positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

WIDTH, FURTHER = 120, " " * 8
"""The longest line, and the additional indentation of continuation lines."""
OPERATORS = ({"&&", "||"}, {"?", ":", "<", ">"}, {"-", "+"}, {"*", "/", "%"})
"""Operators in front of which a line may be broken, from those that bind loosely to those that bind tightly."""


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
        (-_depth(line[:place]), -tightness, place)
        for place in range(least + 1, min(WIDTH + 1, len(line)))
        if line[place] == " " and (tightness := _tightness(line[:place], line[place + 1 :])) is not None
    ]
    late = [item for item in found if item[2] > WIDTH // 2]
    return max(late or found, default=(0, 0, None))[2]


def _tightness(before: str, after: str) -> int | None:
    """How tightly the two sides of a space are bound; None where a reader would not part them."""
    if before.endswith(","):
        return 0
    word, space, _ = after.partition(" ")
    found = (tightness for tightness, signs in enumerate(OPERATORS) if space and word in signs)
    return next(found, len(OPERATORS) - 1 if before.endswith(" =") else None)


def _depth(text: str) -> int:
    return sum(text.count(opening) - text.count(closing) for opening, closing in ("()", "[]", "{}"))
