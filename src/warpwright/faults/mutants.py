"""Mutants: a right kernel with one planted fault of a known kind, to measure verifiers.

Each kind of fault finds its places in the tokens of the source and gives the replacement. A mutant usually compiles
where its original does; whether it behaves differently is known only after running it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from warpwright.cpp.tokens import tokenize
from warpwright.faults.context import Context
from warpwright.faults.edits import arithmetic, behaviour, bounds, indices, threads, values
from warpwright.faults.text import Edit, Text

Find = Callable[[Text], Iterator[Edit]]
CLASSES: dict[str, dict[str, Find]] = {
    "arithmetic": {
        "other operation": arithmetic.other_operations,
        "other function": arithmetic.other_functions,
        "dropped epsilon": values.dropped_epsilons,
    },
    "constant": {"changed constant": arithmetic.changed_constants},
    "index": {
        "swapped indices": indices.swapped_indices,
        "neighbouring element": indices.neighbouring_elements,
        "wrong row length": indices.wrong_row_lengths,
    },
    "boundary": {
        "shifted bound": bounds.shifted_bounds,
        "dropped tail": bounds.dropped_guards,
        "off-by-one grid": bounds.short_grids,
    },
    "loop that ends early": {"early end": bounds.early_ends, "changed stride": bounds.changed_strides},
    "reduction": {
        "wrong identity": values.wrong_identities,
        "lost terms": values.lost_terms,
        "skipped step": values.skipped_steps,
    },
    "precision": {"half accumulation": values.coarse_accumulations, "half result": values.coarse_results},
    "synchronisation": {
        "dropped barrier": threads.dropped_barriers,
        "uninitialised shared": threads.skipped_stores,
        "wrong mask": threads.wrong_masks,
        "missing atomic": threads.missing_atomics,
    },
    "identity-default parameter": {},
    "empty kernel": {"empty kernel": behaviour.empty_kernels},
    "magnitude sniffing": {"magnitude sniffing": behaviour.magnitude_sniffing},
    "size-split behaviour": {},
    "stale state": {"stale result": behaviour.stale_results},
}
"""Kinds of faults by class; those of an empty class need the context of a task."""
KINDS: dict[str, Find] = {kind: find for kinds in CLASSES.values() for kind, find in kinds.items()}
_CLASS_OF = {kind: name for name, kinds in CLASSES.items() for kind in kinds}
_CLASS_OF |= {"ignored parameter": "identity-default parameter", "size split": "size-split behaviour"}


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

    certain: str | None = None
    """Why the result is wrong for certain, where that follows from the construction."""

    @property
    def family(self) -> str:
        """The class of the fault."""
        return _CLASS_OF[self.kind]


def mutants(source: str, context: Context | None = None) -> Iterator[Mutant]:
    """Yields every mutant of a source, by kind and place."""
    text = Text(tokenize(source))
    for kind, find in {**KINDS, **_kinds_of(context or Context())}.items():
        for edit in find(text):
            yield _mutant(text, kind, edit)


def _kinds_of(context: Context) -> dict[str, Find]:
    return {
        "ignored parameter": partial(behaviour.ignored_parameters, identities=context.identities),
        "size split": partial(behaviour.size_splits, grids=context.grids),
    }


def few_of_each_kind(source: str, most: int) -> list[Mutant]:
    """Returns the first `most` mutants of each kind."""
    seen: Counter[str] = Counter()
    chosen = []
    for mutant in mutants(source):
        seen[mutant.kind] += 1
        if seen[mutant.kind] <= most:
            chosen.append(mutant)
    return chosen


def some_of_each_class(source: str, most: int, seed: int, context: Context | None = None) -> list[Mutant]:
    """Returns up to `most` mutants of each class at random, those of few kinds before further ones of others."""
    groups: dict[str, list[Mutant]] = {}
    for mutant in mutants(source, context):
        groups.setdefault(mutant.family, []).append(mutant)
    chosen = []
    for family, group in groups.items():
        random.Random(f"{seed} {family}").shuffle(group)
        chosen += _kinds_in_turn(group)[:most]
    return chosen


def _kinds_in_turn(group: list[Mutant]) -> list[Mutant]:
    seen: Counter[str] = Counter()
    turns = []
    for mutant in group:
        seen[mutant.kind] += 1
        turns.append(seen[mutant.kind])
    return [mutant for _, mutant in sorted(zip(turns, group, strict=True), key=lambda pair: pair[0])]


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
        certain=edit.certain,
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
