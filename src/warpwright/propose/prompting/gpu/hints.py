"""The library of hints: one idea each, as data, with what it applies to."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warpwright.core.codec import decode
from warpwright.core.gpus.limit import Bound
from warpwright.core.gpus.table import Gpu
from warpwright.core.task import Direction, Role, Task
from warpwright.propose.prompting.cases import limit_of
from warpwright.propose.prompting.reference import reference

_LIBRARY = Path(__file__).resolve().parent / "hints.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """One idea. An empty list of what it applies to means all."""

    id: str
    text: str
    families: tuple[str, ...] = ()
    bounds: tuple[Bound, ...] = ()
    dtypes: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    directions: tuple[Direction, ...] = ()
    uses: tuple[str, ...] = ()
    """Names of functions, one of which the reference calls."""
    takes: tuple[str, ...] = ()
    """Endings of names of arguments, one of which the function takes."""
    later: bool = False
    """Of use only where there is a kernel already."""


@cache
def hints() -> tuple[Hint, ...]:
    """All there are, in the order of the file."""
    table = tomllib.loads(_LIBRARY.read_text(encoding="utf-8"))
    return tuple(decode(Hint, entry, f"hints.toml, hint {number}") for number, entry in enumerate(table["hint"], 1))


def applicable(task: Task, gpu: Gpu) -> tuple[Hint, ...]:
    """Those that make sense for a task on a GPU."""
    bounds = bounds_of(task, gpu)
    return tuple(hint for hint in hints() if _applies(hint, task, gpu, bounds))


def bounds_of(task: Task, gpu: Gpu) -> frozenset[Bound]:
    """What holds the timed cases back; empty where the task does not say what its work is."""
    limits = (limit_of(task, case, gpu) for case in task.cases_of(Role.TIME) or task.cases)
    return frozenset(limit.bound_by for limit in limits if limit is not None)


def _applies(hint: Hint, task: Task, gpu: Gpu, bounds: frozenset[Bound]) -> bool:
    return (
        (not hint.families or task.family in hint.families)
        and (not hint.bounds or not bounds or not bounds.isdisjoint(hint.bounds))
        and (not hint.dtypes or not set(task.dtypes).isdisjoint(hint.dtypes))
        and (not hint.architectures or gpu.arch in hint.architectures)
        and (not hint.directions or task.direction in hint.directions)
        and (not hint.uses or not called(task).isdisjoint(hint.uses))
        and (not hint.takes or any(argument.name.endswith(hint.takes) for argument in task.arguments))
    )


def called(task: Task) -> set[str]:
    """The names that what decides calls, whatever they belong to; rivals and variants in the same file do not count."""
    return set(re.findall(r"(\w+)\s*\(", reference(task)))


def hint_text(hint: str) -> str:
    """A brief names a hint by its id, or brings its own words."""
    return next((known.text for known in hints() if known.id == hint), hint)


def is_for_later(hint: str) -> bool:
    return any(known.later for known in hints() if known.id == hint)
