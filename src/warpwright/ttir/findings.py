"""Findings: what is wrong with a launch, once for each kind and line, with its first place and a count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from warpwright.ttir.syntax.locations import Line

Triple = tuple[int, int, int]


class Kind(Enum):
    """`certain` kinds are wrong whatever the hardware does."""

    OUT_OF_BOUNDS = "out-of-bounds"
    MISALIGNED = "misaligned"
    UNINITIALISED = "uninitialised"
    RACE = "race"
    CLASH = "clash"
    ASSERT = "assert"
    ASSUMPTION = "assumption"
    HINT = "hint"
    DIVISION = "division"

    @property
    def refutes(self) -> bool:
        return self is not Kind.HINT


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    kind: Kind
    message: str
    line: Line | None
    program: Triple | None = None
    other_line: Line | None = None
    other_program: Triple | None = None
    count: int = 1

    def sentence(self) -> str:
        place = f" (line {self.line.number})" if self.line else ""
        return f"{self.message}{place}"


class Findings:
    """Collects findings of a launch; a message is only worded for the first of its kind and line."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], Finding] = {}

    def add(self, kind: Kind, line: Line | None, count: int, first: Callable[[], Finding]) -> None:
        key = (kind, line)
        known = self._kept.get(key)
        found = replace(known, count=known.count + count) if known else replace(first(), count=count)
        self._kept[key] = found

    def all(self) -> tuple[Finding, ...]:
        return tuple(self._kept.values())
