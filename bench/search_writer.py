"""Simulates how a model answers a brief: the kernel that it intends to write, and whether the result is correct."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from search_landscape import HINTS, TECHNIQUES, Kernel, Landscape, Mind

from warpwright.core.records.search import Brief, Operator

SURCHARGE = {Operator.REWRITE: 0.1, Operator.CROSSOVER: 0.05, Operator.SPECIALISE: 0.0}
"""The additional error rate of an operator over a plain optimisation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A candidate of the landscape. One that is wrong by a slip can be repaired to the intended kernel."""

    kernel: Kernel
    right: bool
    slip: bool = False
    tunable: bool = False


def write(land: Landscape, mind: Mind, brief: Brief, known: Mapping[str, Written], rng: random.Random) -> Written:
    if brief.operator is Operator.REPAIR:
        return _repaired(mind, known[brief.parents[0]], rng)
    kernel = _meant(land, mind, brief, known, rng)
    fragile = sum(land.fragile[technique] for technique in kernel.techniques) / 2
    wrong = mind.wrong + land.hardness[kernel.paradigm] + fragile + SURCHARGE.get(brief.operator, 0.0)
    wrong += 0.1 * ((brief.temperature or 0.7) - 0.7)
    return Written(
        kernel=kernel,
        right=rng.random() >= min(wrong, 0.9),
        slip=rng.random() < land.slips,
        tunable=rng.random() < land.tunable,
    )


def _repaired(mind: Mind, broken: Written, rng: random.Random) -> Written:
    return replace(broken, right=broken.slip and rng.random() < mind.mends, slip=broken.slip and rng.random() < 0.7)


def _meant(land: Landscape, mind: Mind, brief: Brief, known: Mapping[str, Written], rng: random.Random) -> Kernel:
    parents = [known[parent].kernel for parent in brief.parents]
    shown = [known[candidate].kernel for candidate in brief.context]
    match brief.operator:
        case Operator.TRANSLATE:
            plain = Kernel(_paradigm(land, mind, None, rng), frozenset())
            return _improved(land, mind, brief, plain, shown, rng, rng.choice((0, 1, 1, 2)))
        case Operator.REWRITE:
            return _improved(land, mind, brief, _rewritten(land, mind, parents[0], rng), shown, rng, 1)
        case Operator.CROSSOVER:
            return _crossed(*parents, rng)
        case Operator.SPECIALISE:
            return Kernel(parents[0].paradigm, parents[0].techniques, parents[0].settings, tuple(parents))
    return _improved(land, mind, brief, parents[0], shown, rng, 1 + (rng.random() < 0.3))


def _paradigm(land: Landscape, mind: Mind, other_than: int | None, rng: random.Random) -> int:
    """Chooses a paradigm by fame; a skilled model may choose the one with the highest ceiling."""
    open_ = [place for place in range(len(land.fame)) if place != other_than]
    if rng.random() < mind.skill / 2:
        return max(open_, key=lambda place: land.ceiling[place])
    return rng.choices(open_, [land.fame[place] for place in open_])[0]


def _rewritten(land: Landscape, mind: Mind, parent: Kernel, rng: random.Random) -> Kernel:
    kept = frozenset(technique for technique in sorted(parent.techniques) if rng.random() < 0.6)
    return Kernel(_paradigm(land, mind, parent.paradigm, rng), kept)


def _crossed(one: Kernel, other: Kernel, rng: random.Random) -> Kernel:
    taken = 0.6 if one.paradigm == other.paradigm else 0.35
    extra = [technique for technique in sorted(other.techniques - one.techniques) if rng.random() < taken]
    return Kernel(one.paradigm, one.techniques | frozenset(extra), one.settings)


def _improved(
    land: Landscape, mind: Mind, brief: Brief, kernel: Kernel, shown: Sequence[Kernel], rng: random.Random, steps: int
) -> Kernel:
    changed = {_technique(land, mind, brief, kernel, shown, rng) for _ in range(steps)}
    parts = tuple(replace(part, techniques=part.techniques | changed) for part in kernel.merged)
    return replace(kernel, techniques=kernel.techniques ^ changed, merged=parts)


def _technique(
    land: Landscape, mind: Mind, brief: Brief, kernel: Kernel, shown: Sequence[Kernel], rng: random.Random
) -> int:
    """Chooses a technique: by the hint, by what made other kernels fast, by skill, or by popularity."""
    for told, share in ((brief.hint, land.obedience), (brief.lesson, land.insight)):
        place = HINTS.index(told) if told else TECHNIQUES
        if place < TECHNIQUES and place not in kernel.techniques and rng.random() < share:
            return place
    avoided: set[int] = set()
    if shown and rng.random() < land.attention:
        effects = _effects(land, [*shown, kernel])
        good = [technique for technique in effects if technique not in kernel.techniques and effects[technique] > 0]
        if good:
            return max(good, key=lambda technique: effects[technique])
        avoided = set(effects)
    if rng.random() < mind.skill:
        gains = [max(gain, 0.02) for gain in land.gain[kernel.paradigm]]
        known = kernel.techniques | avoided
        weights = [0.0 if technique in known else gain for technique, gain in enumerate(gains)]
        return rng.choices(range(TECHNIQUES), weights)[0] if any(weights) else rng.randrange(TECHNIQUES)
    flatness = 1.0 / (0.4 + (brief.temperature or 0.7))
    return rng.choices(range(TECHNIQUES), [weight**flatness for weight in land.popular])[0]


def _effects(land: Landscape, shown: Sequence[Kernel]) -> dict[int, float]:
    """Estimates from kernels and their times how much faster those with a technique are."""
    scores = [(kernel.techniques, land.speed_up(kernel)) for kernel in shown]
    effects = {}
    for technique in sorted(frozenset().union(*(techniques for techniques, _ in scores))):
        with_it = [score for techniques, score in scores if technique in techniques]
        without = [score for techniques, score in scores if technique not in techniques]
        if without:
            effects[technique] = sum(with_it) / len(with_it) - sum(without) / len(without)
    return effects
