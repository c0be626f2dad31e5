"""Measures the value of each mechanism of the search by simulated runs on random landscapes with equal budgets.

Every policy runs on the same landscapes; differences are paired by landscape, with 95 % bootstrap intervals. The budget
covers models and GPU together. Scores are natural logarithms of the true speed-up of the kernel that a run ranks best.

Run: python bench/search.py [--runs 400] [--budget 3] [--only NAME] [--jobs 2] [--json]. The exit status is 1 if the
default does not clearly exceed best-of-N, greedy and the plain loop.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from search_genomes import Composer, at_random
from search_landscape import Landscape
from search_world import NOTHING, Decider, Outcome, arms, world

from warpwright.core.records.search import Action, Arm, Brief, Decision, Operator, Snapshot
from warpwright.evolve.decide import decide
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.policy import Policy
from warpwright.evolve.seeds import seed_of

PLAIN: dict[str, Any] = {
    "repairs": 0, "tunes": 0, "near_miss": False, "crossover": 0.0, "rewrite": 0.0,
    "specialise": False, "learn_hints": False, "bandit": False,
}  # fmt: skip
RIVALS: dict[str, dict[str, Any]] = {
    "best of N": {},
    "greedy": {**PLAIN, "context": 0, "evaluate": 8},
    "plain loop": PLAIN,
}
"""Greedy improves the best kernel and sees only that. The plain loop is the paper's: best kernels as context, half of
the proposals evaluated, repair only while no kernel is correct.
"""
MECHANISMS: dict[str, dict[str, Any]] = {
    "without bandit": {"bandit": False},
    "without tuning": {"tunes": 0},
    "without rewrite": {"rewrite": 0.0},
    "without learning hints": {"learn_hints": False},
    "without repair": {"repairs": 0},
    "without context": {"context": 0, "near_miss": False},
    "without merging": {"specialise": False},
    "with crossover": {"crossover": 0.15},
    "with adaptive parents": {"exploit": 0.8},
    "with scratchpad": {"reflect_every": 10},
}
ASSUMPTIONS: dict[str, Callable[[Landscape], float]] = {
    "without tuning": lambda land: land.setting_weight,
    "without learning hints": lambda land: land.obedience,
    "without repair": lambda land: land.slips * statistics.fmean(mind.mends for mind in land.minds) / land.repair_price,
    "without context": lambda land: land.attention,
    "without merging": lambda land: statistics.pstdev(itertools.chain(*land.paradigm_by_case, *land.by_case)),
    "with scratchpad": lambda land: land.insight,
}
"""The unknown property on which the value of a mechanism depends: results are also shown where it is least and most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    score: float
    interval: tuple[float, float]
    difference: float | None
    """The mean difference to the default, paired by landscape."""
    difference_interval: tuple[float, float] | None
    failed: float
    proposals: float
    evaluations: float
    halfway: float


def best_of_n(policy: Policy, snapshot: Snapshot, given: SearchInputs) -> Decision:
    """A policy of translations only, each from the reference; all correct ones are timed."""
    number = len(snapshot.decisions)
    seed = seed_of(snapshot.run.seed, number)
    rng = random.Random(seed)
    waiting = tuple(member.candidate or "" for member in snapshot.members if member.fate == "waiting")
    if waiting:
        return Decision(
            number=number, generation=number, action=Action.EVALUATE, reason="all", seed=seed, candidates=waiting
        )
    briefs = tuple(_translation(len(snapshot.members) + place, policy.arms, given, rng) for place in range(8))
    return Decision(number=number, generation=number, action=Action.BREED, reason="more", seed=seed, briefs=briefs)


def _translation(number: int, open_: Sequence[Arm], given: SearchInputs, rng: random.Random) -> Brief:
    return Brief(
        number=number,
        operator=Operator.TRANSLATE,
        arm=rng.choice(open_),
        temperature=rng.choice((0.3, 0.7, 1.0)),
        hint=rng.choice(given.hints),
    )


def simulate(name: str, changes: dict[str, Any], budget: float, seed: int) -> Outcome:
    here = world(seed, budget)
    policy = replace(Policy(arms=arms(here.land), generations=10**9, enough=None), **changes)
    decider: Decider = partial(best_of_n, policy) if name == "best of N" else partial(_decide, policy)
    return here.play(decider)


def _decide(policy: Policy, snapshot: Snapshot, given: SearchInputs) -> Decision:
    return decide(snapshot, policy, given)


def interval(values: Sequence[float], draws: int = 1000) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean."""
    rng = random.Random(0)
    means = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(draws))
    return means[round(0.025 * draws)], means[round(0.975 * draws) - 1]


def row(name: str, outcomes: Sequence[Outcome], default: Sequence[Outcome]) -> Row:
    scores = [outcome.score for outcome in outcomes]
    apart = [mine.score - other.score for mine, other in zip(outcomes, default, strict=True)]
    return Row(
        name=name,
        score=statistics.fmean(scores),
        interval=interval(scores),
        difference=None if outcomes is default else statistics.fmean(apart),
        difference_interval=None if outcomes is default else interval(apart),
        failed=statistics.fmean(score == NOTHING for score in scores),
        proposals=statistics.fmean(outcome.proposals for outcome in outcomes),
        evaluations=statistics.fmean(outcome.evaluations for outcome in outcomes),
        halfway=statistics.fmean(outcome.curve[1] if len(outcome.curve) > 1 else outcome.score for outcome in outcomes),
    )


def survey(policies: dict[str, dict[str, Any]], runs: int, budget: float, jobs: int) -> dict[str, list[Outcome]]:
    with multiprocessing.Pool(jobs, initializer=os.nice, initargs=(10,)) as pool:
        return {
            name: pool.map(partial(simulate, name, changes, budget), range(runs), chunksize=10)
            for name, changes in policies.items()
        }


def composed(evaluations: int, runs: int) -> dict[str, list[Outcome]]:
    """Runs the composer's search and random genomes, with equal numbers of evaluations."""
    search: Decider = partial(_decide, Policy(generations=10**9, enough=None))
    deciders = {"default": search, "random genomes": partial(at_random, search)}
    return {
        name: [Composer(seed, evaluations).play(decider) for seed in range(runs)] for name, decider in deciders.items()
    }


def thirds(name: str, outcomes: Sequence[Outcome], default: Sequence[Outcome]) -> tuple[list[float], list[float]]:
    """Returns the differences to the default in the thirds of landscapes with the least and the most of the
    property.
    """
    apart = [mine.score - other.score for mine, other in zip(outcomes, default, strict=True)]
    order = sorted(range(len(apart)), key=lambda seed: ASSUMPTIONS[name](Landscape(seed)))
    part = len(order) // 3
    return [apart[seed] for seed in order[:part]], [apart[seed] for seed in order[-part:]]


def show(rows: Sequence[Row]) -> None:
    print(f"{'policy':28} speed-up  95 % interval   score against the default    none  asked  timed  halfway")
    for item in rows:
        low, high = (math.exp(value) for value in item.interval)
        apart = "" if item.difference is None or item.difference_interval is None else (
            f"{item.difference:+.3f} ({item.difference_interval[0]:+.3f} to {item.difference_interval[1]:+.3f})"
        )  # fmt: skip
        print(
            f"{item.name:28} {math.exp(item.score):8.3f}  {low:.3f} to {high:.3f}  {apart:27} {item.failed:5.1%}"
            f" {item.proposals:6.1f} {item.evaluations:6.1f} {math.exp(item.halfway):8.3f}"
        )


def show_thirds(found: dict[str, list[Outcome]]) -> None:
    print(f"\n{'policy':28} against the default, where its assumption is least / most")
    for name in ASSUMPTIONS:
        if name in found:
            parts = thirds(name, found[name], found["default"])
            shown = (f"{statistics.fmean(part):+.3f} ({low:+.3f} to {high:+.3f})" for part in parts
                     for low, high in [interval(part)])  # fmt: skip
            print(f"{name:28} {'   '.join(shown)}")


def show_composed(runs: int) -> None:
    for evaluations in (24, 64):
        found = composed(evaluations, runs)
        print(f"\nThe composer, {evaluations} evaluations; scores are shares of a reference genome")
        show([row(name, outcomes, found["default"]) for name, outcomes in found.items()])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--budget", type=float, default=3.0, help="dollars for each run")
    parser.add_argument("--only", action="append", help="a policy; repeat it")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    policies = {**RIVALS, **MECHANISMS}
    wanted = {name: policies[name] for name in options.only or policies}
    began = time.monotonic()
    found = survey({"default": {}, **wanted}, options.runs, options.budget, options.jobs)
    rows = [row(name, outcomes, found["default"]) for name, outcomes in found.items()]
    if options.json:
        print(json.dumps([asdict(item) for item in rows]))
    else:
        show(rows)
        show_thirds(found)
        show_composed(options.runs)
        print(f"{options.runs} runs of {options.budget:g} USD each for every policy, {time.monotonic() - began:.0f} s")
    rivals = [item.difference_interval for item in rows if item.name in RIVALS]
    return 0 if all(bounds and bounds[1] < 0 for bounds in rivals) else 1


if __name__ == "__main__":
    sys.exit(main())
