"""A random composer: genomes with a best value for each gene, pairs of dependent genes, and wrong kernels."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field, replace
from typing import Any

from search_world import Decider, Outcome, evidence

from warpwright.core.records.evidence import Dossier
from warpwright.core.records.search import Action, Basis, Brief, Decision, Proposal, Run, Score, Snapshot
from warpwright.evolve.fold import Record, fold
from warpwright.evolve.inputs import SearchInputs
from warpwright.evolve.selection.configs import anywhere

SPACE: dict[str, tuple[Any, ...]] = {
    "block": (64, 128, 256, 512, 1024),
    "vector": (1, 2, 4, 8),
    "rows": (1, 2, 4, 8),
    "unroll": (1, 2, 4),
    "staging": ("registers", "shared"),
    "persistent": (False, True),
    "passes": (1, 2),
}


class Genomes:
    """A landscape of genomes. Scores are logarithms of the share of the physical limit."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.best = anywhere(SPACE, rng)
        self.weight = {name: rng.uniform(0.02, 0.15) for name in SPACE}
        pairs = rng.sample(list(itertools.combinations(SPACE, 2)), 6)
        self.bonus = {
            (one, other, rng.choice(SPACE[one]), rng.choice(SPACE[other])): rng.uniform(0.05, 0.25)
            for one, other in pairs
        }
        self.wrong = rng.uniform(0.0, 0.25)
        self.noise = rng.uniform(0.002, 0.02)

    def value(self, genome: dict[str, Any]) -> float:
        away = sum(
            self.weight[name] * abs(values.index(genome[name]) - values.index(self.best[name]))
            for name, values in SPACE.items()
        )
        luck = sum(bonus for (one, other, a, b), bonus in self.bonus.items() if genome[one] == a and genome[other] == b)
        return luck - away


@dataclass(slots=True)
class Composer:
    """A run without models that ends after a number of evaluations."""

    seed: int
    evaluations: int
    records: list[Record] = field(default_factory=list)

    def play(self, decide: Decider) -> Outcome:
        rng, genomes = random.Random(self.seed + 1), Genomes(self.seed)
        run = Run(id=f"g{self.seed}", task="t", seed=self.seed, started="2026-01-01T00:00:00Z", warpwright="0")
        given = SearchInputs(space=SPACE, genome=anywhere(SPACE, random.Random(self.seed + 2)))
        asked: dict[str, Brief] = {}
        best, timed = (float("-inf"), -2.0), 0
        while timed < self.evaluations:
            decision = decide(fold(run, self.records), given)
            self.records.append(decision)
            if decision.action is Action.STOP:
                break
            for brief in decision.briefs:
                name = f"k{brief.number}"
                asked[name] = brief
                self.records.append(Proposal(brief=brief.number, candidate=name))
                found = evidence(name, "emulate", right=rng.random() >= genomes.wrong)
                self.records.append(Dossier(candidate=name, task="t", evidence=(found,)))
            for name in decision.candidates[: self.evaluations - timed]:
                true = genomes.value(dict(asked[name].genome))
                seen = true + rng.gauss(0.0, genomes.noise)
                best, timed = max(best, (seen, true)), timed + 1
                self.records.append(Score(candidate=name, basis=Basis.PREDICTED, value=seen))
        return Outcome(score=best[1], proposals=len(asked), evaluations=timed, right=timed)


def at_random(decide: Decider, snapshot: Snapshot, given: SearchInputs) -> Decision:
    """Makes the same decisions with random genomes."""
    made = decide(snapshot, given)
    rng = random.Random(made.seed)
    briefs = [
        replace(brief, genome=anywhere(SPACE, rng) if brief.number else brief.genome, parents=())
        for brief in made.briefs
    ]
    return replace(made, briefs=tuple(briefs))
