"""Every number and switch of a search. The defaults are those that paid in the ablation of design/0003-search.md."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpwright.core.errors import UsageError
from warpwright.core.records.search import Arm


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run may use. None is no limit."""

    usd: float | None = None
    tokens: int | None = None
    gpu_seconds: float | None = None
    wall_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a run searches. Without arms no language model is asked and the composer writes every candidate."""

    arms: tuple[Arm, ...] = ()
    composer: bool = True
    budget: Budget = field(default_factory=Budget)
    enough: float | None = 0.9
    """The share of the physical limit at which nothing is left to win; None never stops early."""

    generations: int = 10
    proposals: int = 8
    evaluate: int = 4
    attempts: int = 10
    """Translations and repairs before the first right candidate."""

    repairs: int = 4
    """Per generation, on top of its proposals; 0 repairs only where nothing is right yet."""
    repair_depth: int = 2
    """Repairs in a row on one candidate."""
    tunes: int = 4
    """Settings tried of each structural win that declares tunables."""

    exploit: float = 1.0
    """The share of proposals whose parent is the best; the others' parents are drawn by score and children."""
    context: int = 5
    near_miss: bool = True
    temperatures: tuple[float, ...] = (0.3, 0.7, 1.0)
    crossover: float = 0.0
    rewrite: float = 0.15
    specialise: bool = True
    learn_hints: bool = True
    """Hints that improved other candidates come up more often; otherwise all alike."""

    bandit: bool = True
    """Arms by what they gave for their price; otherwise all alike."""
    decay: float = 0.95
    curiosity: float = 1.0
    thrift: float = 1.0
    """How much price weighs: 0 ignores it, 1 counts gain per dollar."""

    reflect_every: int | None = None
    """Scored candidates between two reflections."""

    def __post_init__(self) -> None:
        for name in ("proposals", "evaluate", "attempts"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")
        for name in ("crossover", "rewrite", "exploit"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name} is a share between 0 and 1")
        if not 0.0 < self.decay <= 1.0:
            raise UsageError("decay is above 0 and at most 1")
        if not self.temperatures:
            raise UsageError("temperatures must name at least one")
