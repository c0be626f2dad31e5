"""A random task for a simulated kernel search: its possible kernels, their speed, and the skill of its models.

It behaves like real kernel searches as far as these are known. Most proposals are wrong, some of them by a slip. Gains
multiply and diminish. Paradigms differ in their start and their ceiling. Shapes disagree. Constants matter a little.
Price and skill of models are independent. Unknown properties (how often a slip can be repaired, how much a model
follows a hint) are drawn for every landscape from a wide range.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass

PARADIGMS, TECHNIQUES, CASES = 4, 14, ("small", "medium", "large")
SETTINGS = {"BLOCK": (64, 128, 256, 512), "UNROLL": (1, 2, 4, 8)}
IDLE_HINTS = 6
"""Hints that name no technique of this task."""
HINTS = tuple(f"hint {number}" for number in range(TECHNIQUES + IDLE_HINTS))


@dataclass(frozen=True, slots=True)
class Kernel:
    """The properties that determine a kernel's speed. A merged kernel holds the kernels to which it dispatches."""

    paradigm: int
    techniques: frozenset[int]
    settings: tuple[int, ...] = (256, 2)
    merged: tuple[Kernel, ...] = ()

    @property
    def structure(self) -> tuple[object, ...]:
        return (self.paradigm, tuple(sorted(self.techniques)), tuple(part.structure for part in self.merged))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """A model: its price, its error rate, its skill at repairs, and its knowledge of good techniques."""

    price: float
    wrong: float
    mends: float
    skill: float


class Landscape:
    def __init__(self, seed: int, minds: int = 3) -> None:
        rng = random.Random(seed)
        self.ceiling = [rng.uniform(-0.3, 0.3)]
        self.start = [rng.uniform(-1.5, -0.7)]
        # Later paradigms are rarer, harder to get right and slow at first; some have a higher ceiling.
        for _ in range(1, PARADIGMS):
            self.ceiling.append(self.ceiling[0] + rng.gauss(0.2, 0.3))
            self.start.append(self.start[0] + rng.gauss(-0.2, 0.3))
        self.hardness = [0.0] + [rng.uniform(0.0, 0.2) for _ in range(1, PARADIGMS)]
        self.fame = [2.0**-place for place in range(PARADIGMS)]
        self.gain = [[_technique(rng) for _ in range(TECHNIQUES)] for _ in range(PARADIGMS)]
        common = [_technique(rng) for _ in range(TECHNIQUES)]
        self.gain = [[(own + 2 * shared) / 3 for own, shared in zip(row, common, strict=True)] for row in self.gain]
        self.fragile = [rng.choice((0.0, 0.0, 0.05, 0.15)) for _ in range(TECHNIQUES)]
        self.by_case = [[rng.gauss(0.0, 0.08) for _ in CASES] for _ in range(TECHNIQUES)]
        self.paradigm_by_case = [[rng.gauss(0.0, 0.15) for _ in CASES] for _ in range(PARADIGMS)]
        pairs = list(itertools.combinations(range(TECHNIQUES), 2))
        self.conflicts = {pair: rng.uniform(0.2, 0.8) for pair in rng.sample(pairs, 12)}
        self.popular = [1.0 / (place + 1) for place in range(TECHNIQUES)]
        rng.shuffle(self.popular)
        self.best_setting = [[rng.randrange(len(values)) for values in SETTINGS.values()] for _ in range(PARADIGMS)]
        self.setting_weight = rng.uniform(0.0, 0.1)
        self.tunable = rng.uniform(0.2, 1.0)
        self.limit = max(self.ceiling) + rng.uniform(0.05, 0.4)
        self.noise = rng.uniform(0.002, 0.02)
        self.slips = rng.uniform(0.4, 0.8)
        self.repair_price = rng.uniform(0.3, 1.0)
        self.obedience = rng.uniform(0.3, 0.9)
        self.attention = rng.uniform(0.0, 0.6)
        self.repetition = rng.uniform(0.3, 0.9)
        self.insight = rng.uniform(0.0, 0.4)
        self.minds = [_mind(rng) for _ in range(minds)]

    def speed_ups(self, kernel: Kernel) -> dict[str, float]:
        """Logarithms of the speed-ups, by case."""
        if kernel.merged:
            parts = [self.speed_ups(part) for part in kernel.merged]
            return {case: max(part[case] for part in parts) - 0.005 for case in CASES}
        middle = self._middle(kernel)
        return {
            case: middle
            + self.paradigm_by_case[kernel.paradigm][place]
            + sum(self.by_case[technique][place] for technique in kernel.techniques)
            for place, case in enumerate(CASES)
        }

    def speed_up(self, kernel: Kernel) -> float:
        return sum(self.speed_ups(kernel).values()) / len(CASES)

    def _middle(self, kernel: Kernel) -> float:
        start, ceiling = self.start[kernel.paradigm], self.ceiling[kernel.paradigm]
        total = sum(self.gain[kernel.paradigm][technique] for technique in kernel.techniques)
        total -= sum(weight for (one, other), weight in self.conflicts.items() if {one, other} <= kernel.techniques)
        reached = (ceiling - start) * (1 - math.exp(-total)) if total > 0 else total
        return start + reached - self._detuned(kernel)

    def _detuned(self, kernel: Kernel) -> float:
        best = self.best_setting[kernel.paradigm]
        places = [values.index(now) for values, now in zip(SETTINGS.values(), kernel.settings, strict=True)]
        return self.setting_weight * sum(abs(now - then) for now, then in zip(places, best, strict=True))

    def traits(self, kernel: Kernel) -> tuple[int, int, int, int]:
        one, two, three = (sum(technique % 3 == axis for technique in kernel.techniques) for axis in range(3))
        return min(one, 3), min(two, 3), min(three, 3), kernel.paradigm


def _technique(rng: random.Random) -> float:
    """Draws a gain: four in ten help, as many do nothing, two in ten slow the kernel down."""
    return rng.choice((rng.uniform(0.15, 0.7), 0.0, rng.uniform(0.15, 0.7), 0.0, -rng.uniform(0.1, 0.4)))


def _mind(rng: random.Random) -> Mind:
    """Draws a model: expensive ones are better on average, but often not in proportion to their price."""
    rank = rng.random()
    return Mind(
        price=0.01 * 15.0 ** min(max(rank + rng.gauss(0.0, 0.2), 0.0), 1.0),
        wrong=min(max(0.6 - 0.3 * rank + rng.gauss(0.0, 0.06), 0.25), 0.65),
        mends=min(max(0.4 + 0.35 * rank + rng.gauss(0.0, 0.1), 0.2), 0.9),
        skill=min(max(0.1 + 0.5 * rank + rng.gauss(0.0, 0.1), 0.0), 0.8),
    )
