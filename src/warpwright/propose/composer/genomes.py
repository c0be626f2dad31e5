"""Genomes: which choices a composed kernel leaves open, what is chosen by default, and how a source remembers it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from warpwright.core.errors import UsageError
from warpwright.propose.composer import column_kernel, fused_kernel, map_kernel, row_launch, split_kernel
from warpwright.propose.composer.schedule import COLUMNS, ELEMENTS, FUSED, ROWS

SPACES: dict[str, dict[str, tuple[Any, ...]]] = {
    ELEMENTS: map_kernel.SPACE,
    ROWS: row_launch.SPACE | split_kernel.SPACE | map_kernel.SPACE,
    COLUMNS: column_kernel.SPACE,
    FUSED: fused_kernel.SPACE,
}
DEFAULTS: dict[str, Any] = {
    "vector_bytes": 16,
    "map_block": 256,
    "map_packs": 2,
    "warp_items": 4,
    "warp_rows": 4,
    "row_block": 128,
    "row_items": 4,
    "stream_block": 512,
    "stream_unroll": 4,
    "column_warps": 8,
    "column_blocks": 528,
    "fused_blocks": 528,
    "split_block": 512,
    "split_blocks": 528,
}
_REMEMBERED = re.compile(r"genome: (\{.*\})")


def space(kinds: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for kind in dict.fromkeys(kinds):
        found |= SPACES.get(kind, {})
    return found


def default(genes: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    return {name: DEFAULTS[name] for name in genes}


def completed(genes: Mapping[str, tuple[Any, ...]], genome: Mapping[str, Any]) -> dict[str, Any]:
    """A whole genome: what is not given is the default, what is given must be one of the values of its gene."""
    for name, value in genome.items():
        if name in genes and value not in genes[name]:
            raise UsageError(f"{name} = {value} is not in the genome space; one of {', '.join(map(str, genes[name]))}")
    return {**default(genes), **{name: value for name, value in genome.items() if name in genes}}


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
