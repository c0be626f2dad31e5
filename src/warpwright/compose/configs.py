"""Configs: a value for every knob of a composed source: the default, variants, and the config in a source's head.

Sources call their config "genome" in their head, since kernels in archives are read back by that word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from warpwright.compose.kernels.pointwise import map as map_kernel
from warpwright.compose.kernels.reduction import columns, rows_and_columns
from warpwright.compose.kernels.rows import block, cluster, gemv, launch, split
from warpwright.compose.kernels.scan import scan
from warpwright.compose.schedule.groups import COLUMNS, ELEMENTS, FUSED, ROWS, SCAN
from warpwright.compose.schedule.knobs import Config, Knob, Space, defaults_of
from warpwright.core.errors import UsageError
from warpwright.core.gpus.table import Gpu

_KEPT = re.compile(r"genome: (\{.*\})")


def knobs(kinds: Sequence[str], gpu: Gpu) -> list[Knob]:
    """The knobs of kernels of these kinds, and those of a whole source."""
    by_kind = {
        ELEMENTS: map_kernel.KNOBS,
        ROWS: (*launch.KNOBS, *gemv.KNOBS, *block.KNOBS, *cluster.knobs(gpu), *split.knobs(gpu)),
        COLUMNS: columns.knobs(gpu),
        FUSED: rows_and_columns.knobs(gpu),
        SCAN: scan.KNOBS,
    }
    found = {knob.name: knob for kind in dict.fromkeys(kinds) for knob in by_kind.get(kind, ())}
    return [*found.values(), *(of_source(gpu) if found else ())]


def of_source(gpu: Gpu) -> tuple[Knob, ...]:
    """Whether stores bypass the cache, which exponential is used, and whether a kernel may be launched before the
    previous one has ended."""
    streaming = {3: "streaming", 4: "streaming"}
    stores = Knob(name="stores", values=("plain", "streaming"), default="plain", variations=streaming)
    math = Knob(name="math", values=("precise", "fast"), default="fast", variations={4: "precise"})
    overlap = Knob(name="overlap", values=("none", "next"), default="next", variations={3: "none"})
    return (stores, math, overlap) if gpu.architecture.has_programmatic_launch else (stores, math)


def usual(knobs: Sequence[Knob], kinds: Sequence[str], streams: bool, rounds: bool) -> dict[str, Any]:
    """The default config of a task.

    Column sums next to a row take registers, so that fewer packs of the row can be kept; gradients read several
    tensors along a row, for which larger blocks are faster. If results are rounded coarsely, an error in the last digit
    may change them, so that the exact exponential is used.
    """
    found = defaults_of(knobs)
    if FUSED in kinds:
        found |= {"row_items": 2, "split_block": 512}
    if streams:
        found["stores"] = "streaming"
    if rounds:
        found["math"] = "precise"
    return found


def effective(space: Space, default: Config, text: Callable[[Config], str]) -> dict[str, tuple[Any, ...]]:
    """The space without values that change nothing, and without knobs that are left with one."""
    written = text({})
    found = {
        name: tuple(value for value in values if value == default[name] or text({name: value}) != written)
        for name, values in space.items()
    }
    return {name: values for name, values in found.items() if len(values) > 1}


def variants(
    space: Space, default: Config, variations: Sequence[Config], text: Callable[[Config], str], count: int
) -> list[dict[str, Any]]:
    """The default and others, no two of them with the same text."""
    found: dict[str, dict[str, Any]] = {}
    for change in ({}, *variations):
        known = {name: value for name, value in change.items() if value in space.get(name, ())}
        config = {**default, **known}
        found.setdefault(text(config), config)
    return list(found.values())[:count]


def without_config(source: str) -> str:
    return _KEPT.sub("", source, count=1)


def completed(space: Space, default: Config, config: Config) -> dict[str, Any]:
    """A whole config: a knob that is not given has its default, what is given must be one of the values of its knob."""
    for name, value in config.items():
        if name in space and value not in space[name]:
            raise UsageError(f"{name} = {value} is not in the genome space; one of {', '.join(map(str, space[name]))}")
    return {name: config.get(name, default[name]) for name in space}


def read_back(source: str) -> dict[str, Any] | None:
    """The config that a composed source has at its head; None where there is none."""
    found = _KEPT.search(source[:4000])
    if not found:
        return None
    try:
        read = json.loads(found.group(1))
    except json.JSONDecodeError:
        return None
    return read if isinstance(read, dict) else None
