"""Mutants: a correct kernel with one planted bug of a known kind, to measure verifiers.

Each kind of bug finds its places in the tokens of the source and gives the replacement. A mutant usually compiles where
its original does; whether it behaves differently is known only after running it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mutation import mutations
from mutation.mutations import Edit, Text
from warpwright.cpp.tokens import tokenize

KINDS: dict[str, Callable[[Text], Iterator[Edit]]] = {
    "dropped barrier": mutations.dropped_barriers,
    "shifted bound": mutations.shifted_bounds,
    "changed stride": mutations.changed_strides,
    "dropped tail": mutations.dropped_guards,
    "swapped indices": mutations.swapped_indices,
    "wrong identity": mutations.wrong_identities,
    "dropped epsilon": mutations.dropped_epsilons,
    "half accumulation": mutations.coarse_accumulations,
    "uninitialised shared": mutations.skipped_stores,
    "wrong mask": mutations.wrong_masks,
    "missing atomic": mutations.missing_atomics,
    "off-by-one grid": mutations.short_grids,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    kind: str
    line: int
    source: str
    was: str
    became: str
    witness: str | None = None
    """A source that behaves like the original unless the bug could take effect."""
    proves: str | None = None
    """The conclusion if the witness behaves like the original in every run."""


def mutants(source: str) -> Iterator[Mutant]:
    """Yields every mutant of a source, by kind and place."""
    text = Text(tokenize(source))
    for kind, find in KINDS.items():
        for edit in find(text):
            yield _mutant(text, kind, edit)


def few_of_each_kind(source: str, most: int) -> list[Mutant]:
    """Returns the first `most` mutants of each kind."""
    seen: Counter[str] = Counter()
    chosen = []
    for mutant in mutants(source):
        seen[mutant.kind] += 1
        if seen[mutant.kind] <= most:
            chosen.append(mutant)
    return chosen


def _mutant(text: Text, kind: str, edit: Edit) -> Mutant:
    witness = edit.witness
    before, was, _ = _around(text, edit.begin, edit.end)
    return Mutant(
        kind=kind,
        line=before.count("\n") + 1,
        source=_edited(text, edit.begin, edit.end, edit.text),
        was=was,
        became=edit.text,
        witness=_edited(text, witness.begin, witness.end, witness.text) if witness else None,
        proves=witness.proves if witness else None,
    )


def _edited(text: Text, begin: int, end: int, instead: str) -> str:
    """Replaces tokens and keeps the number of lines, so that reports on a mutant match lines of the original."""
    before, was, after = _around(text, begin, end)
    return before + instead + "\n" * (was.count("\n") - instead.count("\n")) + after


def _around(text: Text, begin: int, end: int) -> tuple[str, str, str]:
    first, last = text.where[begin], text.where[end - 1] + 1
    parts = (text.tokens[:first], text.tokens[first:last], text.tokens[last:])
    before, was, after = ("".join(token.text for token in part) for part in parts)
    return before, was, after
