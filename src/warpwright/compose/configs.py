"""Genomes: which choices a composed kernel leaves open, what is chosen by default, and how a source remembers it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from warpwright.compose.kernels.pointwise import map as map_kernel
from warpwright.compose.kernels.reduction import columns as column_kernel
from warpwright.compose.kernels.reduction import rows_and_columns as fused_kernel
from warpwright.compose.kernels.rows import (
    block as resident_kernel,
)
from warpwright.compose.kernels.rows import (
    cluster as cluster_kernel,
)
from warpwright.compose.kernels.rows import (
    gemv as across_kernel,
)
from warpwright.compose.kernels.rows import (
    launch as row_launch,
)
from warpwright.compose.kernels.rows import (
    split as split_kernel,
)
from warpwright.compose.kernels.scan import scan as scan_kernel
from warpwright.compose.schedule.groups import COLUMNS, ELEMENTS, FUSED, ROWS, SCAN
from warpwright.core.errors import UsageError

SPACES: dict[str, dict[str, tuple[Any, ...]]] = {
    ELEMENTS: map_kernel.SPACE,
    ROWS: row_launch.SPACE | across_kernel.SPACE | resident_kernel.SPACE | cluster_kernel.SPACE | split_kernel.SPACE,
    COLUMNS: column_kernel.SPACE,
    FUSED: fused_kernel.SPACE,
    SCAN: scan_kernel.SPACE,
}
EVERYWHERE: dict[str, tuple[Any, ...]] = {
    "stores": ("plain", "streaming"),
    "math": ("precise", "fast"),
    "overlap": ("none", "next"),
}
"""Genes of a whole source: whether stores pass by the cache, which exponential is used, and whether a kernel may be
launched before the last one has ended."""
DEFAULTS: dict[str, Any] = {
    "stores": "plain",
    "math": "fast",
    "overlap": "next",
    "vector_bytes": 16,
    "map_block": 256,
    "map_packs": 2,
    "warp_items": 4,
    "warp_rows": 4,
    "row_items": 4,
    "row_crowd": 0,
    "across_block": 256,
    "across_rows": 4,
    "row_shared": 1,
    "row_cluster": 8,
    "stream_block": 512,
    "stream_unroll": 4,
    "scan_block": 256,
    "scan_items": 4,
    "scan_rows": 8,
    "scan_pieces": 256,
    "column_warps": 8,
    "column_blocks": 1056,
    "fused_blocks": 1056,
    "fused_ahead": 0,
    "split_block": 256,
    "split_blocks": 528,
    "split_unroll": 4,
}
CHANGES: tuple[dict[str, Any], ...] = (
    {"row_items": 2, "stream_block": 1024, "split_blocks": 1056, "map_packs": 1, "column_warps": 16}
    | {"scan_items": 2, "row_cluster": 0, "row_shared": 0, "fused_ahead": 1},
    {"row_crowd": 1024, "row_cluster": 4, "stream_unroll": 8, "split_block": 512, "map_packs": 4, "scan_pieces": 512}
    | {"across_block": 512},
    {"stores": "streaming", "column_blocks": 2112, "fused_blocks": 2112, "overlap": "none"},
    {"math": "precise", "stores": "streaming", "fused_blocks": 528, "split_block": 1024},
    {"map_block": 512, "warp_rows": 8, "stream_block": 256, "split_unroll": 8, "column_warps": 4, "scan_pieces": 0}
    | {"scan_block": 128, "scan_rows": 4},
    {"vector_bytes": 8},
    {"row_items": 1, "warp_items": 2, "stream_unroll": 1, "map_block": 128} | {"scan_items": 1, "scan_pieces": 0},
)
"""What is tried beside the default. Genes of different kernels change together: a case tells of the one it takes."""
_REMEMBERED = re.compile(r"genome: (\{.*\})")


def space(kinds: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for kind in dict.fromkeys(kinds):
        found |= SPACES.get(kind, {})
    return {**found, **EVERYWHERE} if found else found


def usual(kinds: Sequence[str], streams: bool, rounds: bool) -> dict[str, Any]:
    """What is chosen for a task that has nothing else to go by.

    Sums of columns beside a row take registers, so that fewer packs of it can be kept; and gradients read several
    tensors along a row, for which larger blocks are quicker. Where a result is very coarse, a last digit can tip it
    over.
    """
    found = dict(DEFAULTS)
    if FUSED in kinds:
        found |= {"row_items": 2, "split_block": 512}
    if streams:
        found["stores"] = "streaming"
    if rounds:
        found["math"] = "precise"
    return found


Genome = Mapping[str, Any]
Space = Mapping[str, tuple[Any, ...]]
Texts = Callable[[Genome], str]


def telling(genes: Space, default: Genome, text: Texts) -> dict[str, tuple[Any, ...]]:
    """The genes without values that change nothing."""
    written = text({})
    found = {
        name: tuple(value for value in values if value == default[name] or text({name: value}) != written)
        for name, values in genes.items()
    }
    return {name: values for name, values in found.items() if len(values) > 1}


def variants(genes: Space, default: Genome, text: Texts, count: int) -> list[dict[str, Any]]:
    """No two of them with the same text."""
    found: dict[str, dict[str, Any]] = {}
    for change in ({}, *CHANGES):
        known = {name: value for name, value in change.items() if value in genes.get(name, ())}
        genome = {**default, **known}
        found.setdefault(text(genome), genome)
    return list(found.values())[:count]


def forgotten(source: str) -> str:
    return _REMEMBERED.sub("", source, count=1)


def completed(genes: Space, default: Genome, genome: Genome) -> dict[str, Any]:
    """A whole genome: what is not given is the default, what is given must be one of the values of its gene."""
    for name, value in genome.items():
        if name in genes and value not in genes[name]:
            raise UsageError(f"{name} = {value} is not in the genome space; one of {', '.join(map(str, genes[name]))}")
    return {name: genome.get(name, default[name]) for name in genes}


def read_back(source: str) -> dict[str, Any] | None:
    """The genome that a composed source carries at its head; None where there is none."""
    found = _REMEMBERED.search(source[:4000])
    if not found:
        return None
    try:
        read = json.loads(found.group(1))
    except json.JSONDecodeError:
        return None
    return read if isinstance(read, dict) else None
