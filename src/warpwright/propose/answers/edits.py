"""Applies SEARCH/REPLACE edits to a parent, with exact rules for where an edit applies.

    <<<<<<< SEARCH
    whole lines of the parent
    =======
    the lines that replace them
    >>>>>>> REPLACE

Every SEARCH is looked up in the unedited parent, so the order of edits does not matter. It must match exactly once:
as written; else with trailing white space ignored; else with indentation ignored as well. Edits must not overlap.
Everything else is an error that names the block and shows the closest lines.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

_OPENS = re.compile(r"\s*<{5,9} ?SEARCH\s*")
_PARTS = re.compile(r"\s*={5,9}\s*")
_CLOSES = re.compile(r"\s*>{5,9} ?REPLACE\s*")
_READINGS: tuple[Callable[[str], str], ...] = (lambda line: line, str.rstrip, str.strip)
_MOST_SHOWN = 12
_MOST_COMPARED = 2000
"""The number of the parent's lines that are compared with a block without a match."""


class Unreadable(Exception):
    """An unusable answer. The message is one sentence for its author."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Lines to find, and the lines that replace them. `number` counts from one."""

    number: int
    search: tuple[str, ...]
    replace: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    begin: int
    end: int
    edit: Edit


def has_edits(text: str) -> bool:
    return any(_OPENS.fullmatch(line) or _CLOSES.fullmatch(line) for line in text.split("\n"))


def edits_in(text: str) -> tuple[Edit, ...]:
    """Reads every edit of an answer, in order."""
    return tuple(_edits(text.split("\n")))


def _edits(lines: Sequence[str]) -> Iterator[Edit]:
    number = 0
    parts: list[list[str]] = []
    for line in lines:
        if _OPENS.fullmatch(line):
            number += 1
            if parts:
                raise Unreadable(f"SEARCH/REPLACE block {number - 1} has no line '>>>>>>> REPLACE'")
            parts = [[]]
        elif _CLOSES.fullmatch(line):
            yield _edit(max(number, 1), parts)
            parts = []
        elif parts and _PARTS.fullmatch(line):
            parts.append([])
        elif parts:
            parts[-1].append(line)
    if parts:
        raise Unreadable(f"SEARCH/REPLACE block {number} has no line '>>>>>>> REPLACE'; the answer seems cut off")


def _edit(number: int, parts: list[list[str]]) -> Edit:
    if len(parts) != 2:
        found = {0: "no line '<<<<<<< SEARCH'", 1: "no line '======='"}.get(len(parts), "more than one line '======='")
        raise Unreadable(f"SEARCH/REPLACE block {number} has {found}")
    search, instead = parts
    if not any(line.strip() for line in search):
        raise Unreadable(f"the SEARCH part of block {number} is empty; quote the lines to be replaced")
    return Edit(number=number, search=tuple(search), replace=tuple(instead))


def apply_edits(parent: str, edits: Sequence[Edit]) -> str:
    """Applies all edits to the parent at once."""
    lines = parent.split("\n")
    placed = sorted((_placed(lines, edit) for edit in edits), key=lambda item: (item.begin, item.end))
    for before, after in itertools.pairwise(placed):
        if after.begin < before.end:
            raise Unreadable(
                f"SEARCH/REPLACE blocks {before.edit.number} and {after.edit.number} change the same lines"
            )
    for item in reversed(placed):
        lines[item.begin : item.end] = item.edit.replace
    return "\n".join(lines)


def _placed(lines: Sequence[str], edit: Edit) -> _Placed:
    for reading in _READINGS:
        asked = edit if reading is _READINGS[0] else replace(edit, search=_trimmed(edit.search))
        found = list(_matches([reading(line) for line in lines], [reading(line) for line in asked.search]))
        if len(found) == 1:
            return _Placed(begin=found[0], end=found[0] + len(asked.search), edit=edit)
        if found:
            where = ", ".join(str(begin + 1) for begin in found[:4])
            raise Unreadable(
                f"the SEARCH part of block {edit.number} matches {len(found)} places (lines {where}); "
                f"quote more lines so that it matches one"
            )
    raise Unreadable(_not_found(lines, edit))


def _trimmed(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Drops blank lines at both ends, which authors add at will."""
    kept = [number for number, line in enumerate(lines) if line.strip()]
    return lines[kept[0] : kept[-1] + 1]


def _matches(lines: Sequence[str], search: Sequence[str]) -> Iterator[int]:
    for begin in range(len(lines) - len(search) + 1):
        if lines[begin] == search[0] and lines[begin : begin + len(search)] == search:
            yield begin


def _not_found(lines: Sequence[str], edit: Edit) -> str:
    begin = _nearest(lines[:_MOST_COMPARED], edit.search)
    shown = "\n".join(lines[begin : begin + min(len(edit.search), _MOST_SHOWN)])
    return (
        f"the SEARCH part of block {edit.number} is not in the kernel; "
        f"the nearest lines are, from line {begin + 1}:\n{shown}"
    )


def _nearest(lines: Sequence[str], search: Sequence[str]) -> int:
    """Finds the line at which the parent resembles the block most, judged by the block's longest line."""
    wanted = max(search, key=lambda line: len(line.strip())).strip()
    likeness = [difflib.SequenceMatcher(None, wanted, line.strip()[:200]).quick_ratio() for line in lines]
    best = max(range(len(lines)), key=likeness.__getitem__)
    return max(best - list(search).index(next(line for line in search if line.strip() == wanted)), 0)
