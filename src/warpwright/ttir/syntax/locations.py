"""Locations: the line of the author's file that an operation was written in, through inlined functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):\d+')
_ALIAS = re.compile(r"#loc\d*")
_LIBRARY = re.compile(r"[/\\]triton[/\\](language|experimental|runtime)[/\\]")
_DEEPEST = 50


class Line(NamedTuple):
    file: str
    number: int


class Locations:
    """The table of locations at the end of a module."""

    def __init__(self, text: str) -> None:
        self._said: Mapping[str, str] = {match[1]: match[2] for match in _DEFINITION.finditer(text)}
        self._known: dict[str, Line | None] = {}

    def line(self, tag: str) -> Line | None:
        """The innermost line that does not belong to Triton's own library."""
        if tag not in self._known:
            lines = self._lines(tag, _DEEPEST)
            own = [line for line in lines if not _LIBRARY.search(line.file)]
            self._known[tag] = next(iter(own), None)
        return self._known[tag]

    def _lines(self, said: str, depth: int) -> list[Line]:
        """The lines of a location, the called before its caller."""
        place = _FILE.match(said)
        if place:
            return [Line(place[1], int(place[2]))]
        if depth == 0:
            return []
        found: list[Line] = []
        for match in re.finditer(rf"{_FILE.pattern}|{_ALIAS.pattern}", said):
            inner = Line(match[1], int(match[2])) if match[1] else None
            found += [inner] if inner else self._lines(self._said.get(match[0], ""), depth - 1)
        return found
