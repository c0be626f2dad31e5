"""Products with a single row, as when a language model writes one word.

Where a size is one in some of the cases that are timed and more in others, the entry point hands over to a second one,
written for that size alone. A product is there a sum along each row of the matrix, which takes in whatever the matrix
is unpacked from: a library would have it unpacked to memory first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from warpwright.propose.composer.host import Entry, Single
from warpwright.propose.composer.values import Graph


def often_one(graph: Graph) -> str | None:
    """The name of the rows of a product that is timed with one row, though not always called with one."""
    products = [value for value in graph.made("library") if value.attrs[0] in ("mm", "addmm")]
    for rows in (product.args[-2].shape[0] for product in products):
        timed = {rows.values[position] for position in graph.cases.timed}
        if rows.text.isidentifier() and 1 in timed and set(rows.values) != {1}:
            return rows.text
    return None


def handed_over(entries: Sequence[Entry], singles: Sequence[Entry], size: str) -> list[Entry]:
    """Each entry after the one it hands over to."""
    found = []
    for entry, single in zip(entries, singles, strict=True):
        name = f"{entry.name}_of_one_row"
        found.append(replace(single, name=name, is_exported=False))
        found.append(replace(entry, single=Single(size=size, name=name)))
    return found
