"""A simulated run: the landscape carries out the decisions of the real fold and decide functions within a budget."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from search_landscape import HINTS, SETTINGS, TECHNIQUES, Landscape
from search_writer import Written, write

from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.search import (
    Action,
    Arm,
    Basis,
    Brief,
    Call,
    Decision,
    Fate,
    Lesson,
    Operator,
    Proposal,
    Run,
    Score,
    Snapshot,
)
from warpwright.evolve.fold import Record, fold
from warpwright.evolve.inputs import SearchInputs, Tunables

Decider = Callable[[Snapshot, SearchInputs], Decision]

GPU_SECONDS = 20.0
USD_PER_GPU_SECOND = 3.0 / 3600.0
NOTHING = -2.0
"""The score of a run that found no correct kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a run: the true log speed-up of the candidate that it ranks best, and its counts."""

    score: float
    proposals: int
    evaluations: int
    right: int
    curve: tuple[float, ...] = ()
    """The score after a quarter, a half and three quarters of the budget."""


@dataclass(slots=True)
class World:
    land: Landscape
    rng: random.Random
    run: Run
    budget: float
    records: list[Record] = field(default_factory=list)
    known: dict[str, Written] = field(default_factory=dict)
    prints: dict[str, str] = field(default_factory=dict)
    tunables: dict[str, Tunables] = field(default_factory=dict)
    usd: float = 0.0
    best: tuple[float, float] = (float("-inf"), NOTHING)
    marks: list[float] = field(default_factory=list)

    def play(self, decide: Decider) -> Outcome:
        """Carries out each decision completely before the next one is made."""
        while self.usd < self.budget:
            decision = decide(fold(self.run, self.records), SearchInputs(hints=HINTS, tunables=self.tunables))
            self.records.append(decision)
            if decision.action is Action.STOP:
                break
            for brief in decision.briefs:
                self._propose(brief)
            for candidate in decision.candidates:
                self._evaluate(candidate)
            if decision.action is Action.REFLECT:
                self._reflect(decision)
        return self._outcome()

    def _pay(self, usd: float) -> bool:
        """Pays from the budget; False if it would be exceeded, and then the action has no result."""
        while len(self.marks) < 3 and self.usd + usd > self.budget * (len(self.marks) + 1) / 4:
            self.marks.append(self.best[1])
        self.usd += usd
        return self.usd <= self.budget

    def _propose(self, brief: Brief) -> None:
        if brief.arm is None:
            parent = self.known[brief.parents[0]]
            kernel = replace(parent.kernel, settings=tuple(brief.genome[name] for name in SETTINGS))
            self._answer(brief, replace(parent, kernel=kernel, right=self.rng.random() < 0.95, slip=False))
            return
        mind = self.land.minds[int(brief.arm.model)]
        factor = self.land.repair_price if brief.operator is Operator.REPAIR else 1.0 + 0.04 * len(brief.context)
        usd = mind.price * factor * self.rng.uniform(0.6, 1.4)
        self.records.append(_call(brief, brief.arm, usd))
        if not self._pay(usd):
            self.records.append(Proposal(brief=brief.number, faulted=True))
        elif self.rng.random() < 0.03:
            self.records.append(Proposal(brief=brief.number, problem="no code in the answer"))
        else:
            self._answer(brief, write(self.land, mind, brief, self.known, self.rng))

    def _answer(self, brief: Brief, written: Written) -> None:
        twist = 0 if self.rng.random() < self.land.repetition else brief.number
        print_ = f"{written.kernel.structure}{written.kernel.settings}{written.right}{twist}"
        candidate = f"k{brief.number}"
        self.known[candidate] = written
        if written.tunable and not written.kernel.merged:
            now = dict(zip(SETTINGS, written.kernel.settings, strict=True))
            self.tunables[candidate] = Tunables(space=SETTINGS, genome=now)
        earlier = self.prints.setdefault(print_, candidate)
        self.records.append(
            Proposal(
                brief=brief.number,
                candidate=candidate,
                fingerprint=print_,
                traits=self.land.traits(written.kernel),
                duplicate_of=None if earlier == candidate else earlier,
            )
        )
        if earlier == candidate:
            self._verify(candidate)

    def _verify(self, candidate: str) -> None:
        """Verifies a candidate: the ladder finds nineteen of twenty wrong ones, and most slips when it compiles."""
        written = self.known[candidate]
        right = written.right or self.rng.random() < 0.05
        rung = "seal" if self.rng.random() < (0.7 if written.slip else 0.3) else "emulate"
        self.records.append(Dossier(candidate=candidate, task="t", evidence=(evidence(candidate, rung, right),)))

    def _evaluate(self, candidate: str) -> None:
        written = self.known[candidate]
        if not self._pay(GPU_SECONDS * USD_PER_GPU_SECOND):
            self.records.append(Judged(job=candidate, label="", task="t", candidate=candidate))
            return
        if not written.right:
            wrong = evidence(candidate, "judge", right=False)
            self.records.append(Judged(job=candidate, label="", task="t", candidate=candidate, evidence=(wrong,)))
            return
        by_case = {
            case: value + self.rng.gauss(0.0, self.land.noise)
            for case, value in self.land.speed_ups(written.kernel).items()
        }
        value = sum(by_case.values()) / len(by_case)
        self.best = max(self.best, (value, self.land.speed_up(written.kernel)))
        self.records.append(
            Score(candidate=candidate, basis=Basis.MEASURED, value=value, by_case=by_case, gpu_seconds=GPU_SECONDS)
        )

    def _reflect(self, decision: Decision) -> None:
        """Records a lesson that names a technique, a good one in two of three cases."""
        self._pay(self.land.minds[0].price)
        good = [place for place in range(TECHNIQUES) if self.land.gain[0][place] > 0.1]
        place = self.rng.choice(good) if good and self.rng.random() < 0.67 else self.rng.randrange(TECHNIQUES)
        self.records.append(Lesson(decision=decision.number, text=HINTS[place]))

    def _outcome(self) -> Outcome:
        members = fold(self.run, self.records).members
        scored = [member for member in members if member.fate in (Fate.SLOWER, Fate.IMPROVED)]
        return Outcome(
            score=self.best[1],
            proposals=len(members),
            evaluations=len(scored),
            right=sum(member.fate in (Fate.SLOWER, Fate.IMPROVED, Fate.WAITING) for member in members),
            curve=tuple(self.marks),
        )


def _call(brief: Brief, arm: Arm, usd: float) -> Call:
    return Call(
        id=f"c{brief.number}",
        brief=brief.number,
        purpose=brief.operator,
        model=arm.model,
        prompt="",
        reply="",
        cost_usd=usd,
        seconds=1.0,
    )


def evidence(candidate: str, rung: str, right: bool) -> Evidence:
    if right:
        return Evidence(candidate=candidate, rung=rung, verdict=Verdict.HOLDS)
    shown = Counterexample(kind="wrong result", message="element 0 differs")
    return Evidence(candidate=candidate, rung=rung, verdict=Verdict.REFUTED, counterexample=shown)


def arms(land: Landscape) -> tuple[Arm, ...]:
    return tuple(Arm(model=str(place)) for place in range(len(land.minds)))


def world(seed: int, budget: float) -> World:
    """Builds a world; landscape and randomness of a seed are the same for every policy."""
    run = Run(id=f"r{seed}", task="t", seed=seed, started="2026-01-01T00:00:00Z", warpwright="0")
    return World(land=Landscape(seed), rng=random.Random(seed + 1), run=run, budget=budget)
