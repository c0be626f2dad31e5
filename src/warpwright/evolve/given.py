"""What a decision may depend on besides the records of its run: plain data that stays the same for the same records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warpwright.core.records.search import Arm


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The most that one answer can cost, its re-ask included. None is unknown."""

    usd: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunables:
    """What the constants that a source leaves open can be set to, and what they are set to now."""

    space: Mapping[str, tuple[Any, ...]]
    genome: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    hints: tuple[str, ...] = ()
    """Those that apply to the task."""
    forward: str | None = None
    """A right forward kernel, for a task that asks for the backward pass or both."""
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """The composer's genomes; empty where it cannot write this task."""
    genome: Mapping[str, Any] = field(default_factory=dict)
    """The composer's own choice."""
    tunables: Mapping[str, Tunables] = field(default_factory=dict)
    """By candidate, where its source declares some."""
    promise: Mapping[str, float] = field(default_factory=dict)
    """By candidate: how likely others think it is right and fast. It orders the queue and nothing else."""
    ceilings: Mapping[Arm, Ceiling] = field(default_factory=dict)
    evaluation_seconds: float | None = None
    """The most GPU seconds that one evaluation can take."""
