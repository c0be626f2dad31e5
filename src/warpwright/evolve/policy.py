"""Every parameter of a search. The defaults are the best settings of the ablation in design/0003-search.md."""

from __future__ import annotations

from dataclasses import dataclass, field

from warpwright.core.errors import UsageError
from warpwright.core.records.search import Arm


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of a run. None is no limit."""

    usd: float | None = None
    tokens: int | None = None
    gpu_seconds: float | None = None
    wall_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Parameters of a search. Without arms no language model is asked and the composer writes every candidate."""

    arms: tuple[Arm, ...] = ()
    composer: bool = True
    budget: Budget = field(default_factory=Budget)
    enough: float | None = 0.9
    """The fraction of the physical limit at which a run stops early; None never stops early."""

    generations: int = 10
    proposals: int = 8
    evaluate: int = 4
    attempts: int = 10
    """The number of translations and repairs allowed before the first correct candidate."""

    repairs: int = 4
    """Repairs per generation, in addition to its proposals; 0 repairs only until the first correct candidate."""
    repair_depth: int = 2
    """Successive repairs of one candidate."""
    tunes: int = 4
    """Settings tried for each new best candidate that declares tunables."""

    exploit: float = 1.0
    """The fraction of proposals whose parent is the best; other parents are drawn by score and number of children."""
    context: int = 5
    near_miss: bool = True
    temperatures: tuple[float, ...] = (0.3, 0.7, 1.0)
    crossover: float = 0.0
    rewrite: float = 0.15
    specialise: bool = True
    learn_hints: bool = True
    """Whether hints that improved other candidates are drawn more often; otherwise all are equally likely."""

    bandit: bool = True
    """Whether arms are chosen by reward per price; otherwise all are equally likely."""
    decay: float = 0.95
    curiosity: float = 1.0
    thrift: float = 1.0
    """The weight of price: 0 ignores it, 1 counts gain per dollar."""

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
