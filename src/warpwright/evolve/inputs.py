"""Inputs of a decision besides the records of its run: plain data that is equal for equal records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warpwright.core.records.search import Arm


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The most that one answer can cost, including a second request. None is unknown."""

    usd: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunables:
    """The possible and current values of the constants that a source leaves to a tuner."""

    space: Mapping[str, tuple[Any, ...]]
    genome: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchInputs:
    hints: tuple[str, ...] = ()
    """The hints that apply to the task."""
    unsuited: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each candidate, the hints that cannot help it."""
    forward: str | None = None
    """A correct forward kernel, for a task with a backward pass."""
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """The composer's search space; empty if it cannot write this task."""
    genome: Mapping[str, Any] = field(default_factory=dict)
    """The composer's default config."""
    tunables: Mapping[str, Tunables] = field(default_factory=dict)
    """The tunables of each candidate whose source declares some."""
    promise: Mapping[str, float] = field(default_factory=dict)
    """An estimate, for each candidate, that it is correct and fast. It orders the queue and has no other effect."""
    lessons: tuple[str, ...] = ()
    """Lessons of earlier runs for the same function."""
    ceilings: Mapping[Arm, Ceiling] = field(default_factory=dict)
    predicts: bool = False
    """Whether times are only predicted: then an evaluation costs nothing scarce, and none is put off."""
