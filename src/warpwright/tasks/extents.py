"""Names for the sizes that differ between runs, and formulas for sizes that depend on them.

A column holds one extent over all runs. Equal columns are one size; a formula must fit every run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, count
from string import ascii_uppercase

from warpwright.core.task import Size

Column = tuple[int, ...]
_STEPS = range(1, 9)
_OFFSETS = range(-40, 41)


@dataclass(slots=True, kw_only=True)
class Extents:
    taken: Collection[str] = ()
    """Names that have another meaning already."""
    columns: dict[str, Column] = field(default_factory=dict)
    loose: set[str] = field(default_factory=set)
    """Sizes of results for which no formula was found."""

    def independent(self, column: Column) -> Size:
        """Returns a size that the caller chooses: a number if it never changes, else a known or a new name."""
        return _known(column, _multiples(self.columns)) if self._fits(column) else self._named(column)

    def dependent(self, column: Column) -> Size:
        """Returns a size that depends on others: a formula if one fits, else a new name."""
        for formula, values in _formulas(column, self.columns):
            if values == column:
                return formula
        name = self._named(column)
        self.loose.add(name)
        return name

    def dims(self, run: int) -> dict[str, int]:
        return {name: column[run] for name, column in self.columns.items()}

    def _fits(self, column: Column) -> bool:
        return constant(column) or any(values == column for _, values in _multiples(self.columns))

    def _named(self, column: Column) -> str:
        name = next(name for name in _names() if name not in self.columns and name not in self.taken)
        self.columns[name] = column
        return name


def _names() -> Iterator[str]:
    """Yields A to Z, then A1 to Z1, and so on."""
    for round_ in count():
        yield from (f"{letter}{round_ or ''}" for letter in ascii_uppercase)


def constant(column: Column) -> bool:
    return len(set(column)) == 1


def _known(column: Column, formulas: Iterator[tuple[str, Column]]) -> Size:
    return column[0] if constant(column) else next(formula for formula, values in formulas if values == column)


def _multiples(columns: Mapping[str, Column]) -> Iterator[tuple[str, Column]]:
    for name, column in columns.items():
        yield name, column
    for name, column in columns.items():
        for factor in _STEPS[1:]:
            yield f"{factor}*{name}", tuple(factor * value for value in column)


def _formulas(column: Column, columns: Mapping[str, Column]) -> Iterator[tuple[Size, Column]]:
    """Yields formulas from the simplest to the most complex; the last are those of convolutions and pooling."""
    if constant(column):
        yield column[0], column
    yield from _multiples(columns)
    for name, values in columns.items():
        if all(result and result % value == 0 for result, value in zip(column, values, strict=True) if value):
            factor = column[0] // max(values[0], 1)
            yield f"{factor}*{name}", tuple(factor * value for value in values)
    for one, other in combinations_with_replacement(columns, 2):
        yield f"{one}*{other}", tuple(a * b for a, b in zip(columns[one], columns[other], strict=True))
    for name, values in columns.items():
        yield from _strided(name, values)


def _strided(name: str, values: Column) -> Iterator[tuple[str, Column]]:
    for step in _STEPS:
        for offset in sorted(_OFFSETS, key=abs):
            yield _moved(name, offset, step), tuple((value + offset) // step for value in values)


def _moved(name: str, offset: int, step: int) -> str:
    moved = name if not offset else f"{name} + {offset}" if offset > 0 else f"{name} - {-offset}"
    if step == 1:
        return moved
    return f"({moved})//{step}" if offset else f"{name}//{step}"
