"""Selects hints from the library: each is one idea, with the conditions under which it applies."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from warpwright import languages
from warpwright.core.codec import decode
from warpwright.core.gpus.limit import Bound
from warpwright.core.gpus.table import Gpu
from warpwright.core.task import Direction, Role, Task
from warpwright.languages import Frontend
from warpwright.propose.prompting.cases import limit_of
from warpwright.propose.prompting.reference import reference

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """One idea, with the conditions under which it applies; an empty condition holds always."""

    id: str
    text: str
    families: tuple[str, ...] = ()
    bounds: tuple[Bound, ...] = ()
    dtypes: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    directions: tuple[Direction, ...] = ()
    uses: tuple[str, ...] = ()
    """Functions: the reference must call at least one of them."""
    takes: tuple[str, ...] = ()
    """Endings: the name of at least one argument must end with one of them."""
    contains: tuple[str, ...] = ()
    """Words: the kernel to improve must contain at least one of them."""
    lacks: tuple[str, ...] = ()
    """Words: the kernel to improve must contain none of them, because it follows the hint already."""
    later: bool = False
    """True for a hint that is useful only if a kernel exists already."""
    measured: bool = False
    """True for a hint whose gain only a measurement shows, because the cost model does not know it."""


def hints(language: Frontend) -> tuple[Hint, ...]:
    """All hints of a language, in the order of its file; none for a language that brings no file."""
    return _hints_in(language.prompt_file("hints.toml") or "")


@cache
def _hints_in(text: str) -> tuple[Hint, ...]:
    listed = tomllib.loads(text).get("hint", [])
    return tuple(decode(Hint, entry, f"hints.toml, hint {number}") for number, entry in enumerate(listed, 1))


def applicable(task: Task, gpu: Gpu, language: Frontend, *, measured: bool = True) -> tuple[Hint, ...]:
    """The hints of a language that apply to a task on a GPU. `measured` tells whether times are measured."""
    bounds = bounds_of(task, gpu)
    known = (hint for hint in hints(language) if measured or not hint.measured)
    return tuple(hint for hint in known if _applies(hint, task, gpu, bounds))


def unsuited(hints: Iterable[Hint], source: str) -> tuple[str, ...]:
    """The ids of those hints that cannot help a kernel: it lacks what they change, or follows them already."""
    words = set(_WORD.findall(source))
    return tuple(
        hint.id
        for hint in hints
        if (hint.contains and words.isdisjoint(hint.contains)) or not words.isdisjoint(hint.lacks)
    )


def bounds_of(task: Task, gpu: Gpu) -> frozenset[Bound]:
    """The bounds of the timed cases; empty if the task does not declare its work."""
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
    """The names that the reference calls, without their qualifiers; other functions in the same file do not count."""
    return set(re.findall(r"(\w+)\s*\(", reference(task)))


def hint_text(hint: str) -> str:
    """The text of a hint that a brief names by id; a brief may also carry the text itself."""
    return next((known.text for known in _all_hints() if known.id == hint), hint)


def is_for_later(hint: str) -> bool:
    """Whether a hint is about a kernel that exists already."""
    return any(known.later or known.contains for known in _all_hints() if known.id == hint)


def _all_hints() -> Iterator[Hint]:
    """The hints of all languages, whose ids differ."""
    return itertools.chain.from_iterable(map(hints, languages.frontends().values()))
