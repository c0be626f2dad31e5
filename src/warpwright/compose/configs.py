"""Configs: a value for every knob of a composed source: the default, variants, and the config in a source's head.

Kernels in old archives call their config "genome"; both words are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from warpwright.compose.kernels.registry import knobs_of, overrides_of
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import Config, Knob, Space, defaults_of
from warpwright.core.errors import UsageError
from warpwright.core.gpus.table import Gpu

_KEPT = re.compile(r"(?:config|genome): (\{.*\})")


def knobs(groups: Sequence[Group], gpu: Gpu) -> list[Knob]:
    """The knobs of all strategies that may serve the groups of a schedule, and those of a whole source."""
    found = knobs_of(groups, gpu)
    return [*found.values(), *(of_source(gpu) if found else ())]


def of_source(gpu: Gpu) -> tuple[Knob, ...]:
    """Whether stores bypass the cache, which exponential is used, and whether a kernel may be launched before the
    previous one has ended."""
    streaming = {3: "streaming", 4: "streaming"}
    stores = Knob(name="stores", values=("plain", "streaming"), default="plain", variations=streaming)
    math = Knob(name="math", values=("precise", "fast"), default="fast", variations={4: "precise"})
    overlap = Knob(name="overlap", values=("none", "next"), default="next", variations={3: "none"})
    return (stores, math, overlap) if gpu.architecture.has_programmatic_launch else (stores, math)


def usual(knobs: Sequence[Knob], groups: Sequence[Group], streams: bool, rounds: bool) -> dict[str, Any]:
    """The default config of a task: that of each knob, unless a strategy beside it wants another.

    Outputs that are not read again soon are stored past the cache. If results are rounded coarsely, an error in the
    last digit may change them, so that the exact exponential is used.
    """
    found = defaults_of(knobs) | overrides_of(groups)
    if streams:
        found["stores"] = "streaming"
    if rounds:
        found["math"] = "precise"
    return found


def effective(knobs: Iterable[Knob], default: Config, shape: Callable[[Config], object]) -> dict[str, tuple[Any, ...]]:
    """The values that change something, by knob; without knobs that are left with one."""
    usual = shape(default)
    found = {
        knob.name: tuple(
            value
            for value in knob.values
            if value == default[knob.name] or shape({**default, knob.name: value}) != usual
        )
        for knob in knobs
    }
    return {name: values for name, values in found.items() if len(values) > 1}


def variants(
    space: Space, default: Config, variations: Sequence[Config], text: Callable[[Config], str], count: int
) -> list[dict[str, Any]]:
    """The default and others, no two of them with the same text."""
    found: dict[str, dict[str, Any]] = {}
    for change in ({}, *variations):
        if len(found) == count:
            break
        known = {name: value for name, value in change.items() if value in space.get(name, ())}
        config = {**default, **known}
        found.setdefault(text(config), config)
    return list(found.values())


def completed(space: Space, default: Config, config: Config) -> dict[str, Any]:
    """A whole config: a knob that is not given has its default, what is given must be one of the values of its knob."""
    for name, value in config.items():
        if name in space and value not in space[name]:
            raise UsageError(f"{name} = {value} is not a value of this knob; one of {', '.join(map(str, space[name]))}")
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
